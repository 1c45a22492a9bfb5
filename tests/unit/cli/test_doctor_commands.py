"""What a finding says to type reaches the environment that was looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsolve.addresses import PYTORCH_INDEX
from envsolve.cli.doctor_commands import for_place
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.look_place import Place

PYTHON = Path("/home/me/my env/bin/python")
COMMANDS = (
    f"pip install torch==2.9.1+cu128 --index-url {PYTORCH_INDEX}/cu128",
    "python -m pip uninstall torch",
    "pip cache purge",
    "unset LD_LIBRARY_PATH",
)


def typed(chosen_by: str, *, has_pip: bool) -> tuple[str, ...]:
    found = Finding(code="cpu-build", headline="x", certainty="high", fixes=(Fix(text="do", commands=COMMANDS),))
    place = Place(shown="my env", interpreter=PYTHON, chosen_by=chosen_by)
    (fix,) = for_place(found, place, has_pip=has_pip).fixes
    assert fix.text == "do"
    return fix.commands


@pytest.mark.parametrize("chosen_by", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_one_is_reached_by_plain_pip(chosen_by: str) -> None:
    assert typed(chosen_by, has_pip=True) == COMMANDS


def test_the_active_one_without_pip_is_uvs() -> None:
    assert typed("VIRTUAL_ENV", has_pip=False) == (
        f"uv pip install torch==2.9.1+cu128 --index-url {PYTORCH_INDEX}/cu128",
        "uv pip uninstall torch",
        *COMMANDS[2:],
    )


@pytest.mark.parametrize("chosen_by", ["--path", "--name", "--python", ".venv"])
def test_another_one_is_named(chosen_by: str) -> None:
    index = f"--index-url {PYTORCH_INDEX}/cu128"
    assert typed(chosen_by, has_pip=True)[:2] == (
        f"'/home/me/my env/bin/python' -m pip install torch==2.9.1+cu128 {index}",
        "'/home/me/my env/bin/python' -m pip uninstall torch",
    )
    assert typed(chosen_by, has_pip=False)[:2] == (
        f"uv pip install --python '/home/me/my env/bin/python' torch==2.9.1+cu128 {index}",
        "uv pip uninstall --python '/home/me/my env/bin/python' torch",
    )


def test_a_mirror_stands_in_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSOLVE_MIRROR", "https://me:secret@mirror.example/whl/")
    assert typed("VIRTUAL_ENV", has_pip=True)[0] == (
        "pip install torch==2.9.1+cu128 --index-url https://mirror.example/whl/cu128"
    )
