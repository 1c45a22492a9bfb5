"""A new torch is on the index and not in the rules: `envsolve rules update` makes it usable, below what is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from envsolve.cli.app import run
from envsolve.rulebook.overlay_file import overlay_path
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

Ask = Callable[..., tuple[int, dict[str, Any]]]
MACHINE = "RTX 5090,driver=620.70.06,python=3.12,os=linux,arch=x86_64,glibc=2.35"
FLAGS = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> tuple[int, dict[str, Any]]:
        code = run([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def torch(version: str, *, python: str = "cp312", flags: str = FLAGS) -> StubWheel:
    modules = {
        "torch/version.py": f"__version__ = '{version}'\ncuda = '13.4'\n",
        "torch/lib/libtorch_python.so": f"\0{flags}\0",
    }
    tag = f"{python}-{python}-manylinux_2_28_x86_64"
    return StubWheel(name="torch", version=version, tag=tag, modules=modules)


@pytest.fixture
def newer(server: IndexServer) -> IndexServer:
    """The index some months later: torch 2.16.0 with a new CUDA, and a torchvision for it."""
    server.add_wheel("cu134", torch("2.16.0+cu134"))
    server.add_wheel("cu134", torch("2.16.0+cu134", python="cp316"))
    server.add_wheel("cu130", torch("2.14.1+cu130", python="cp316"), form="B")
    vision = StubWheel(
        name="torchvision",
        version="0.31.0+cu134",
        tag="cp312-cp312-manylinux_2_28_x86_64",
        requires=("numpy", "torch==2.16.0"),
    )
    server.add_wheel("cu134", vision)
    return server


def test_what_is_new_is_listed_and_nothing_written(newer: IndexServer, ask: Ask) -> None:
    code, report = ask("rules", "update", "--mirror", newer.whl, "--dry-run")
    assert (code, report["releases"], report["written"]) == (0, ["2.16.0"], None)
    [build] = report["builds"]
    assert (build["variant"], build["platform"], build["python"]) == ("cu134", "linux_x86_64", ["3.12", "3.16"])
    assert [(row["variant"], row["python"]) for row in report["pythons"]] == [("cu130", ["3.16"])]
    assert [row["package"] for row in report["companions"]] == ["torchvision"]
    assert not overlay_path().exists()


def test_a_new_build_is_used_only_where_it_is_asked_for_until_its_wheel_is_read(newer: IndexServer, ask: Ask) -> None:
    _, before = ask("plan", "torch", "torchvision", "--target", MACHINE)
    _, report = ask("rules", "update", "--mirror", newer.whl)
    assert report["written"] == str(overlay_path())

    _, same = ask("plan", "torch", "torchvision", "--target", MACHINE)
    assert same["packages"] == before["packages"]
    assert "newer-unsure" in {note["code"] for note in same["notes"]}

    code, pinned = ask("plan", "torch==2.16.0", "torchvision", "--target", MACHINE)
    assert code == 0
    assert {p["name"]: p["version"] for p in pinned["packages"]} == {
        "torch": "2.16.0+cu134",
        "torchvision": "0.31.0+cu134",
    }
    assert pinned["fits"] == [{"gpu": "RTX 5090", "verdict": "unknown", "code": ""}]
    assert "targets-unknown" in {note["code"] for note in pinned["notes"]}

    code, wider = ask("plan", "torch==2.14.1", "--target", MACHINE, "--python", "3.16")
    assert (code, wider["variant"]) == (0, "cu130")


def test_a_wheel_that_was_read_tells_its_targets(newer: IndexServer, ask: Ask) -> None:
    _, report = ask("rules", "update", "--mirror", newer.whl, "--read-wheels")
    assert report["builds"][0]["sm"] == ["75", "80", "86", "90", "100", "120"]
    _, answer = ask("plan", "torch", "torchvision", "--target", MACHINE)
    assert (answer["variant"], answer["fits"][0]["code"]) == ("cu134", "sm_120")

    ask("rules", "update", "--mirror", newer.whl)  # again, without reading: what was read stays
    _, again = ask("plan", "torch", "--target", MACHINE)
    assert again["fits"][0]["code"] == "sm_120"

    _, shown = ask("rules", "show", "2.16.0+cu134")
    assert {fact["table"] for fact in shown["facts"]} >= {"releases", "builds"}
    assert all(newer.whl in fact["source"] for fact in shown["facts"] if fact["table"] == "builds")


def test_the_driver_still_counts_for_a_build_of_unknown_targets(newer: IndexServer, ask: Ask) -> None:
    ask("rules", "update", "--mirror", newer.whl)
    old = MACHINE.replace("620.70.06", "570.86.10")
    code, answer = ask("plan", "torch==2.16.0", "--target", old)
    assert (code, {row["code"] for row in answer["rejected"]}) == (1, {"driver-too-old"})


def test_nothing_new_leaves_no_overlay_and_forget_drops_it(newer: IndexServer, ask: Ask, server: IndexServer) -> None:
    ask("rules", "update", "--mirror", newer.whl)
    assert overlay_path().exists()
    assert run(["rules", "update", "--forget"]) == 0
    assert not overlay_path().exists()


def test_an_address_without_torch_and_a_broken_overlay_are_errors(
    server: IndexServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rules", "update", "--mirror", server.whl]) == 3
    assert "lists no wheels of torch" in capsys.readouterr().err
    overlay_path().parent.mkdir(parents=True, exist_ok=True)
    overlay_path().write_text('{"format": 99}', encoding="utf-8")
    assert run(["plan", "torch", "--target", MACHINE]) == 2
    assert "is no overlay of the rules" in capsys.readouterr().err


def test_the_text_of_an_update(newer: IndexServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "update", "--mirror", newer.whl, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{newer.whl} beside the rules ")
    assert lines[1:] == [
        "  new releases of torch: 2.16.0",
        "  torch 2.16.0 cu134 for linux x86_64, Python 3.12 3.16",
        "  torchvision 0.31.0 cu134 for linux x86_64, Python 3.12",
        "  torch 2.14.1 cu130 for linux x86_64, Python 3.16: Pythons that the rules lack",
    ]


def test_the_place_of_the_overlay_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_data_path

    assert overlay_path().parent == user_data_path("envsolve", appauthor=False)
    monkeypatch.delenv("XDG_DATA_HOME")
    assert overlay_path().parent == user_data_path("envsolve", appauthor=False)
    monkeypatch.setenv("ENVSOLVE_HOME", "/elsewhere")
    assert str(overlay_path()) == "/elsewhere/rules-overlay.json"
