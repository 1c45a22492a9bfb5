"""`envsolve plan` as people run it: the whole text for real cards and drivers, without any network."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

Plan = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Plan:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("a plan asked the network")

    monkeypatch.setattr("socket.socket.connect", no_network)

    def ask(*argv: str) -> tuple[int, dict[str, Any]]:
        code = run(["plan", *argv, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return ask


def chosen(answer: dict[str, Any]) -> str:
    return str({p["name"]: p["version"] for p in answer["packages"]}["torch"])


def test_rtx_4090_on_r550_is_served_within_its_cuda_major(plan: Plan) -> None:
    code, answer = plan("--target", "RTX 4090,driver=550.54.14,python=3.11,os=linux,arch=x86_64")
    assert code == 0
    assert answer["fits"] == [{"gpu": "RTX 4090", "verdict": "compatible", "code": "sm_86"}]
    assert answer["variant"].startswith("cu12")
    assert "minor-version-compatibility" in {n["code"] for n in answer["notes"]}


def test_gtx_1080_ti_gets_cu126_and_is_told_its_last_release(plan: Plan) -> None:
    code, answer = plan("--target", "GTX 1080 Ti,driver=580.65.06,python=3.11,os=linux,arch=x86_64")
    assert code == 0
    assert (answer["variant"], answer["fits"][0]["code"]) == ("cu126", "sm_60")
    [last] = [n["text"] for n in answer["notes"] if n["code"] == "last-release"]
    assert last == "torch 2.14.1 is the last release with kernels for 6.1; do not go past driver branch R580"


def test_v100_gets_a_build_with_sm_70(plan: Plan) -> None:
    code, answer = plan("--target", "Tesla V100,driver=535.104.05,python=3.11,os=linux,arch=x86_64")
    assert code == 0
    assert answer["fits"] == [{"gpu": "Tesla V100", "verdict": "native", "code": "sm_70"}]


def test_rtx_5070_ti_on_r570_gets_the_advertised_cu128(plan: Plan) -> None:
    code, answer = plan("--target", "RTX 5070 Ti,driver=570.86.10,python=3.11,os=linux,arch=x86_64")
    assert code == 0
    assert chosen(answer) == "2.11.0+cu128"  # not 2.13.0+cu129, which nobody advertises
    assert answer["index_url"] == "https://download.pytorch.org/whl/cu128"
    assert answer["fits"][0]["code"] == "sm_120"


def decisive(answer: dict[str, Any]) -> set[str]:
    """The first reason against each build."""
    first: dict[tuple[str, str], str] = {}
    for entry in answer["rejected"]:
        first.setdefault((entry["torch"], entry["variant"]), entry["code"])
    return set(first.values())


def test_rtx_5090_with_a_driver_that_cannot_drive_it_is_contradictory(plan: Plan) -> None:
    code, answer = plan("--target", "RTX 5090,driver=525.60.13,python=3.11,os=linux,arch=x86_64")
    assert (code, answer["status"]) == (1, "no-solution")
    assert answer["guilty"] == "these can't go together: RTX 5090 (12.0), driver 525.60.13"
    assert decisive(answer) == {"gpu-driver-mismatch"}
    assert {"no-kernels", "driver-too-old"} < {r["code"] for r in answer["rejected"]}
    assert [r["code"] for r in answer["remedies"]] == ["driver-update", "cpu-only"]


def test_rtx_3050_on_r470_gets_cu118(plan: Plan) -> None:
    code, answer = plan("--target", "RTX 3050,driver=470.82.01,python=3.11,os=linux,arch=x86_64")
    assert (code, answer["variant"]) == (0, "cu118")


def test_a_jetson_orin_is_sent_to_the_vendors_index(plan: Plan) -> None:
    code, answer = plan("--target", "Jetson Orin,driver=540.4.0,python=3.10,os=linux,arch=aarch64,tegra=true")
    assert (code, answer["status"]) == (1, "no-solution")
    assert decisive(answer) == {"vendor-index-needed"}
    assert "vendor-index" in {r["code"] for r in answer["remedies"]}


def test_why_not_this_one(plan: Plan) -> None:
    code, answer = plan(
        "torch==2.9.0+cu130", "--target", "GTX 1080 Ti,driver=580.65.06,python=3.11,os=linux,arch=x86_64"
    )
    assert code == 1
    assert answer["rejected"] == [
        {
            "torch": "2.9.0",
            "variant": "cu130",
            "code": "no-kernels",
            "text": "no kernels for 6.1 (has 7.5 8.0 8.6 9.0 10.0 12.0)",
        }
    ]
    assert answer["remedies"][0] == {
        "code": "other-variant",
        "text": "the same version from cu126: torch 2.9.0+cu126",
        "command": (
            "envsolve plan torch==2.9.0 --target 'GTX 1080 Ti,driver=580.65.06,python=3.11,os=linux,arch=x86_64'"
        ),
    }


def test_what_is_not_known_is_asked_for(plan: Plan) -> None:
    code, answer = plan("torch", "--target", "GT 1030,driver=535.104.05,python=3.11,os=linux,arch=x86_64")
    assert (code, answer["status"]) == (1, "needs-input")
    assert [m["field"] for m in answer["missing"]] == ["gpu"]
    assert "3.0 or 6.1" in answer["missing"][0]["how"]


def test_an_unknown_driver_that_changes_nothing_is_not_asked_for(plan: Plan) -> None:
    code, answer = plan("torch==2.5.1", "--target", "RTX 5090,python=3.11,os=linux,arch=x86_64")
    assert (code, answer["status"]) == (1, "no-solution")  # no driver gives 2.5.1 kernels for 12.0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["torch=2.9"], "error: 'torch=2.9' is not a requirement"),
        (["--gpus", "first"], "error: --gpus first: must be all, best, visible or indexes"),
        (["--python", "three"], "error: --python three: not a Python version"),
        (["--target", "no/such/file.json"], "error: there is no file no/such/file.json"),
    ],
)
def test_bad_input_is_an_error_with_a_hint(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = [] if "--target" in argv else ["--target", "RTX 4090,driver=550.54.14"]
    assert run(["plan", *argv, *target]) == 2
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith(message)
    assert err[1].startswith("hint: ")


def test_mixed_cards_that_no_build_serves_are_told_apart(plan: Plan) -> None:
    code, answer = plan(
        "torch>=2.11", "--target", "Tesla V100 + B200,driver=580.95.05,python=3.11,os=linux,arch=x86_64"
    )
    assert code == 1
    codes = [r["code"] for r in answer["remedies"]]
    assert codes == ["relax-pin", "drop-gpu", "separate-environments", "cpu-only"]
    # Nor does one driver: compiling for both would not help.
    assert [n["code"] for n in answer["notes"]] == ["kernel-modules"]


def test_other_requirements_are_looked_up_where_an_index_answers(
    server: IndexServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add_package(StubWheel(name="six", version="1.17"))
    words = ["plan", "torch", "six", "absent", "--target", "RTX 4090,driver=550.54.14,python=3.11", "--json"]
    assert run([*words, "--index", server.simple]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"name": "six", "version": "1.17"} in answer["packages"]
    assert answer["unresolved"] == ["absent"]
    assert server.count("*/torch/*") == 0


@pytest.mark.parametrize("how", ["down", "slow", "offline"])
def test_a_plan_never_fails_for_the_network(
    server: IndexServer, capsys: pytest.CaptureFixture[str], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envsolve.cli.looking_up._TIMEOUT", 0.2)
    if how == "down":
        server.fault("/simple/*", status=503)
    if how == "slow":
        server.fault("/simple/*", slow=1.0)
    offline = ["--offline"] if how == "offline" else []
    words = ["plan", "torch", "six", "--target", "RTX 4090,driver=550.54.14,python=3.11", "--json", *offline]
    assert run([*words, "--index", server.simple]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "solved" and answer["unresolved"] == ["six"]
    assert "not-looked-up" in {note["code"] for note in answer["notes"]}


def test_a_source_build_is_offered_as_the_command_that_writes_it(plan: Plan) -> None:
    target = "GTX TITAN Black,driver=470.82.01,python=3.10,os=linux,arch=x86_64"
    code, answer = plan("torch==1.13.1", "--target", target)
    assert code == 1
    [way] = [r for r in answer["remedies"] if r["code"] == "source-build"]
    assert way["command"] == f"envsolve source-build --torch 1.13.1 --target '{target}'"


def test_no_source_build_is_offered_that_the_command_would_refuse(plan: Plan) -> None:
    target = "GTX 670M,driver=390.157,python=3.8,os=linux,arch=x86_64"  # no toolkit that torch knows targets 2.1
    code, answer = plan("torch", "--target", target)
    assert code == 1
    assert "source-build" not in {r["code"] for r in answer["remedies"]}
