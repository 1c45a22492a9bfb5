"""CPU, Apple, AMD, Intel: the right index for each, said with the same words as for NVIDIA."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from envsolve.machine.target import read_target
from envsolve.resolve.plan import Plan
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.accelerators import explanation, note


def planned(spec: str, **request: object) -> Plan:
    asked = Request(requirements=(Requirement("torch"),), **request)  # type: ignore[arg-type]
    answer = plan(read_target(f"{spec},python=3.12"), asked, load())
    assert isinstance(answer, Plan), answer
    return answer


@pytest.mark.parametrize(
    ("spec", "accelerator", "folder", "word"),
    [
        ("RTX 4090,driver=580.65.06,os=linux,arch=x86_64", "cuda", "/cu1", "no CUDA toolkit"),
        ("Radeon RX 7900 XTX,os=linux,arch=x86_64", "rocm", "/rocm", "/dev/kfd"),
        ("Arc A770,os=linux,arch=x86_64", "xpu", "/xpu", "Level Zero"),
        ("Arc B580,os=windows,arch=x86_64", "xpu", "/xpu", "Level Zero"),
        ("Apple M2,os=macos,arch=arm64", "mps", "/cpu", "macOS"),
        ("cpu,os=linux,arch=x86_64", "cpu", "/cpu", "nothing"),
        ("cpu,os=windows,arch=x86_64", "cpu", "/cpu", "nothing"),
    ],
)
def test_plan_and_text_agree_on_the_index(spec: str, accelerator: str, folder: str, word: str) -> None:
    chosen = planned(spec)
    lines = explanation(chosen.build, load_ways())
    assert chosen.build.accelerator in (accelerator, "cpu" if accelerator == "mps" else accelerator)
    assert chosen.index_url in lines[0] and folder in chosen.index_url
    if chosen.build.accelerator == accelerator:
        assert word in lines[2]


def test_an_old_instinct_gets_the_last_rocm_that_serves_it() -> None:
    assert planned("Instinct MI50,os=linux,arch=x86_64").variant == "rocm6.3"


def test_the_default_python_index_is_named_where_it_is_meant() -> None:
    chosen = planned("cpu,os=linux,arch=x86_64")
    assert "from the default Python index" in explanation(chosen.build, load_ways(), source="pypi")[0]


def test_the_note_has_its_source() -> None:
    told = note(planned("Arc A770,os=linux,arch=x86_64").build, load_ways())
    assert told.code == "accelerator" and "(source: PyTorch documentation" in told.text
