"""Which Python the environment is for, where input files have a say."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from envsolve.cli.app import run
from envsolve.cli.asked_python import settled_python
from envsolve.errors import InputError
from fakes.plans import a_machine


def settled(
    asked: str, *, python: str | None = "3.12", stated: bool = False, others: tuple[str, ...] = ()
) -> str | None:
    machine = a_machine(python=python, pythons=others)  # type: ignore[arg-type]
    return settled_python(
        machine, [("pyproject.toml: project.requires-python", SpecifierSet(asked))], stated=stated
    ).python


@pytest.mark.parametrize("asked", ["", ">=3.11", ">=3.12.4", "==3.12.*", "==3.12.7", "<3.13", "~=3.12", "!=3.12.1"])
def test_the_machines_own_python_stays_where_it_is_taken(asked: str) -> None:
    assert settled(asked) == "3.12"


def test_a_python_that_the_file_names() -> None:
    assert settled("==3.11.*") == "3.11"
    assert settled("==3.11.4", python=None) == "3.11"


def test_another_python_of_the_machine() -> None:
    assert settled("<3.12", others=("3.9.1", "3.11.2", "3.13.0")) == "3.11"


def test_no_python_known_and_none_named() -> None:
    assert settled(">=3.11", python=None) is None


@pytest.mark.parametrize("stated", [True, False])
def test_a_python_that_is_not_taken(stated: bool) -> None:
    with pytest.raises(InputError) as caught:
        settled(">=3.13", stated=stated)
    assert caught.value.message == (
        "pyproject.toml: project.requires-python asks for python >=3.13, and this is for 3.12"
    )
    assert caught.value.hint == "--python 3.13"


def test_what_the_user_says_is_not_changed() -> None:
    with pytest.raises(InputError):
        settled("==3.11.*", stated=True)


@pytest.mark.parametrize("python", ["2.7", "3.5", "python2", "4.0"])
@pytest.mark.parametrize("command", [["plan"], ["lock", "-o", "out.txt"], ["install", "--name", "x"], ["container"]])
def test_a_python_that_pytorch_never_had_wheels_for(
    command: list[str], python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*command, "--python", python]) == 2
    shown = capsys.readouterr()
    assert f"Python {python}" in shown.err or f"--python {python}" in shown.err
    assert "hint: --python 3.12" in shown.err and "error: " in shown.err
    assert shown.out == "" and not list(tmp_path.iterdir())


def test_a_python_that_is_newer_than_every_build_is_a_no_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--target", "RTX 4090,driver=550.54.14,os=linux,arch=x86_64", "--python", "3.40"]) == 1
    assert "--python 3.1" in capsys.readouterr().out
