"""Libraries with CUDA code of their own bind the plan: torch goes down to the newest that has their wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.machine.target import read_target
from envsolve.resolve.plan import Answer, NoPlan, Plan
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load

RULES = Path(__file__).resolve().parents[3] / "rules" / "ways" / "extension_wheels.yaml"
WHEELS: dict[str, Any] = yaml.safe_load(RULES.read_text(encoding="utf-8"))["wheels"]
PACKAGES: dict[str, Any] = yaml.safe_load(RULES.read_text(encoding="utf-8"))["packages"]


def answer(
    *requirements: str, gpu: str = "RTX 4090", driver: str = "580.65.06", python: str = "3.12", **of: Any
) -> Answer:
    machine = read_target(f"{gpu},driver={driver},python={python},os=linux,arch=x86_64")
    return plan_for(machine, Request(requirements=tuple(map(Requirement, requirements)), **of), load())


def planned(*requirements: str, **of: Any) -> Plan:
    found = answer(*requirements, **of)
    assert isinstance(found, Plan), found
    return found


def refused(*requirements: str, **of: Any) -> NoPlan:
    found = answer(*requirements, **of)
    assert isinstance(found, NoPlan), found
    return found


@pytest.mark.parametrize(
    ("requirement", "torch"),
    [
        ("flash-attn", "2.8.0"),
        ("flash-attn==2.7.3", "2.5.1"),
        ("vllm", "2.14.0"),
        ("xformers==0.0.33.post2", "2.9.1"),
        ("triton==3.2.0", "2.6.0"),
        ("natten", "2.12.1"),
        ("torch-scatter", "2.14.1"),
        ("torchcodec==0.9.1", "2.9.1"),
        ("bitsandbytes", None),
        ("deepspeed", None),
        ("some-library-of-nobody", None),
    ],
)
def test_torch_goes_down_to_the_newest_that_has_them(requirement: str, torch: str | None) -> None:
    newest = planned("torch").build.torch
    assert planned("torch", requirement).build.torch == (Version(torch) if torch else newest)


def test_it_is_said_why_it_is_not_the_newest_and_how_to_have_that() -> None:
    found = planned("torch", "flash-attn", "torchvision")
    (note,) = [note.text for note in found.notes if note.code == "extension-holds-back"]
    assert note.startswith("torch 2.15.0+cu130 would run: flash-attn has no wheel for it: flash-attn 2.8.3.post1 goes")
    assert "source: " in note and note.endswith("; without it: envsolve plan torch torchvision")
    reasons = {refusal.text for row in found.refused if str(row.torch) == "2.15.0" for refusal in row.refusals}
    assert any(text.startswith("flash-attn has no wheel for it") for text in reasons)
    assert not [note for note in planned("torch", "bitsandbytes").notes if note.code == "extension-holds-back"]


def test_several_are_all_answered_or_it_is_a_no() -> None:
    found = planned("torch", "flash-attn", "xformers")
    assert found.build.torch == Version("2.8.0")
    no = refused("torch", "flash-attn", "vllm==0.33.0")
    assert no.guilty == "these can't go together: flash-attn and vllm==0.33.0" or "alone rules out" in no.guilty
    assert no.remedies[0].command in ("envsolve plan torch vllm==0.33.0", "envsolve plan torch flash-attn")


def test_a_card_that_they_have_no_code_for_is_named_and_the_remedy_is_to_leave_them_out() -> None:
    no = refused("torch", "flash-attn", gpu="T4")
    assert no.guilty == "these can't go together: T4 (7.5), flash-attn"
    assert [(r.code, r.text, r.command) for r in no.remedies] == [
        ("relax-pin", "without flash-attn: torch 2.15.0+cu130", "envsolve plan torch")
    ]


def test_a_pin_on_torch_that_they_do_not_go_with_is_loosened() -> None:
    no = refused("torch==2.10.0", "flash-attn")
    assert no.guilty == "these can't go together: torch==2.10.0, flash-attn"
    commands = [r.command for r in no.remedies]
    assert commands[:2] == ["envsolve plan torch==2.8.0 flash-attn", "envsolve plan torch==2.10.0"]
    assert not any("--variant cpu" in command for command in commands)  # nobody knows a flash-attn for the CPU


def test_another_python_is_a_remedy() -> None:
    no = refused("torch", "flash-attn", python="3.14")
    assert [r.text for r in no.remedies if r.code == "other-python"] == ["Python 3.13 has torch 2.8.0+cu129"]


def test_who_takes_source_archives_is_told_and_not_bound() -> None:
    found = planned("torch", "flash-attn", sdists=True)
    assert found.build.torch == planned("torch").build.torch
    (note,) = [note.text for note in found.notes if note.code == "extension-missing"]
    assert "torch 2.15.0+cu130: flash-attn has no wheel for it" in note and "torch==2.8.0+cu129 would have one" in note


def test_wheels_that_are_on_no_index_come_with_their_address_and_pages_are_named() -> None:
    (wheel,) = planned("torch", "flash-attn").wheels
    assert wheel.url and wheel.url.endswith("+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl")
    assert planned("torch", "flash-attn").pages == () and planned("torch", "xformers").wheels == ()
    found = planned("torch", "torch-scatter", "pyg-lib")
    assert found.wheels == () and found.pages == ("https://data.pyg.org/whl/torch-2.14.0+cu130.html",)


def _goes(name: str, torch: Version, variant: str, python: str, capability: tuple[int, int]) -> bool:
    """Read straight from the YAML: whether some wheel of a library goes with a build."""
    for by_torch in WHEELS[name].values():
        for specifier, by_variant in by_torch.items():
            for variants, row in by_variant.items():
                named = variants.split()
                first, last = row.get("first"), row.get("last")
                if (
                    SpecifierSet(specifier).contains(torch)
                    and ("any" in named or variant in named or variant[:4] in named)
                    and "linux_x86_64" in row["platforms"]
                    and SpecifierSet(row.get("python", "")).contains(python)
                    and (first is None or _pair(first) <= capability)
                    and (last is None or capability <= _pair(last))
                ):
                    return True
    return False


def _pair(text: object) -> tuple[int, int]:
    major, minor = str(text).split(".")
    return int(major), int(minor)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(name for name in WHEELS if PACKAGES[name]["missing"] == "refuse")),
    st.sampled_from([("T4", (7, 5)), ("A100", (8, 0)), ("RTX 4090", (8, 9)), ("H100", (9, 0)), ("RTX 5090", (12, 0))]),
    st.sampled_from(["525.60.13", "550.54.14", "570.86.10", "580.65.06"]),
    st.sampled_from(["3.10", "3.11", "3.12", "3.13"]),
)
def test_a_plan_never_holds_a_torch_that_the_library_has_no_wheel_for(
    name: str, card: tuple[str, tuple[int, int]], driver: str, python: str
) -> None:
    found = answer("torch", name, gpu=card[0], driver=driver, python=python)
    if isinstance(found, Plan) and found.build.accelerator == "cuda":
        assert _goes(name, found.build.torch, found.variant, python, card[1])
        better = [row for row in answer_rows(card[0], driver, python) if row[0] > found.build.torch]
        assert not any(_goes(name, torch, variant, python, card[1]) for torch, variant, certain in better if certain)


def answer_rows(gpu: str, driver: str, python: str) -> list[tuple[Version, str, bool]]:
    """Every row that runs without the library."""
    plain = answer("torch", gpu=gpu, driver=driver, python=python)
    if not isinstance(plain, Plan):
        return []
    return [(row.build.torch, row.build.variant, row.certain) for row in plain.alternatives]
