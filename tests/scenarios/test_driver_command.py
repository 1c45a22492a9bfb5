"""`envsolve driver`: somebody is told to change the driver, and wants to know to which and how."""

from __future__ import annotations

import json

import pytest

from envsolve.cli.app import run

Output = pytest.CaptureFixture[str]


def driver(*words: str) -> int:
    return run(["driver", *words])


def target(spec: str) -> list[str]:
    return ["--target", f"{spec},python=3.12,os=linux,arch=x86_64,glibc=2.35"]


def test_a_new_card_on_an_old_driver(capsys: Output) -> None:
    assert driver(*target("RTX 5090,driver=550.54.14")) == 1
    out = capsys.readouterr().out
    assert out.startswith("update the driver: driver 550.54.14 is older than ")
    assert "driven by R570 and newer" in out and "sudo apt install nvidia-driver-" in out
    assert out.rstrip().splitlines()[-1].startswith("with the driver as it is: no build")


def test_an_old_card_on_a_new_driver(capsys: Output) -> None:
    assert driver(*target("GTX 1080 Ti,driver=590.44.01")) == 1
    out = capsys.readouterr().out
    assert out.startswith("go back to an older driver: ") and "never past R580" in out
    assert "nvidia-driver-580" in out and "nvidia-driver-590" not in out


def test_what_is_asked_for_runs_already(capsys: Output) -> None:
    assert driver("torch==2.7.1", *target("RTX 5090,driver=550.54.14")) == 1
    capsys.readouterr()
    assert driver("torch==2.7.1", *target("H100,driver=535.54.03")) == 0
    assert capsys.readouterr().out.startswith("keep the driver: driver 535.54.03 is enough")


def test_a_newer_driver_would_give_more_and_the_old_one_still_serves(capsys: Output) -> None:
    assert driver(*target("A100,driver=535.54.03")) == 0
    out = capsys.readouterr().out
    assert "update the driver" in out and "or leave the driver and add cuda-compat-13-0" in out
    assert "with the driver as it is: torch 2.1" in out


def test_json(capsys: Output) -> None:
    assert driver("--json", *target("GTX 1080 Ti,driver=590.44.01")) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["action"], found["branch"], found["last_branch"]) == (1, "downgrade", 580, 580)


def test_no_nvidia_gpu(capsys: Output) -> None:
    assert driver("--target", "cpu,python=3.12") == 1
    assert capsys.readouterr().err == (
        "error: no NVIDIA GPU is to be used here: there is no driver to judge\nhint: envsolve plan\n"
    )


def test_only_the_chosen_cards_count(capsys: Output) -> None:
    assert driver("--gpus", "1", *target("Tesla K80 + RTX 5090,driver=580.65.06")) == 0
    assert "RTX 5090" in capsys.readouterr().out
    assert driver(*target("Tesla K80 + RTX 5090,driver=580.65.06")) == 1
    assert "no driver drives all of these" in capsys.readouterr().out


def test_help_shows_an_example(capsys: Output) -> None:
    assert driver("--help") == 0
    assert 'Example: envsolve driver --target "RTX 5090' in capsys.readouterr().out
