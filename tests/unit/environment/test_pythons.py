"""Finding an interpreter of the asked version."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from envsolve.environment.pythons import ask, find_python
from envsolve.errors import InputError, OutsideError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fake interpreters are shell scripts")
RUNNING = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Python but the running one and what a test makes."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr("envsolve.environment.pythons.find_uv", lambda: None)


def fake(path: Path, version: str, **what: object) -> Path:
    """A file that answers as an interpreter of this version does."""
    said = {
        "version": version,
        "implementation": "CPython",
        "bits": 64,
        "freethreaded": False,
        "base": str(path),
        "stdlib": str(path.parent),
        **what,
    }
    return script(path, f"echo '{json.dumps(said)}'")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_running_python_comes_first(tmp_path: Path) -> None:
    fake(tmp_path / "bin" / f"python{RUNNING}", f"{RUNNING}.99")
    found = find_python(RUNNING)
    assert found.found_in == "the running Python"
    assert found.minor == RUNNING
    # Its base, wherever links lead: a venv may hold a link to it, a link to a link, or a copy.
    assert Path(sys.base_prefix).resolve() in found.executable.resolve().parents
    assert ask(found.executable, "here") == replace(found, found_in="here")


def test_a_venv_leads_to_the_python_that_made_it() -> None:
    assert find_python(RUNNING).executable.parent != Path(sys.prefix) / "bin" or sys.prefix == sys.base_prefix


def test_path_is_searched_folder_by_folder_past_shims_that_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "shims/python3.8", "echo 'pyenv: python3.8: command not found' >&2; exit 127")
    real = fake(tmp_path / "bin/python3.8", "3.8.18")
    monkeypatch.setenv("PATH", f"{tmp_path / 'shims'}{os.pathsep}{tmp_path / 'bin'}")
    assert find_python("3.8").executable == real


def test_python3_counts_when_it_is_the_asked_version(tmp_path: Path) -> None:
    fake(tmp_path / "bin/python3", "3.9.1")
    assert find_python("3.9").version == "3.9.1"
    with pytest.raises(OutsideError):
        find_python("3.10")


def test_pyenv_gives_the_newest_patch(tmp_path: Path) -> None:
    for version in ("3.8.9", "3.8.18", "3.7.16"):
        fake(tmp_path / "pyenv/versions" / version / "bin/python", version)
    found = find_python("3.8")
    assert (found.version, found.found_in) == ("3.8.18", "pyenv")
    assert find_python("3.8.9").version == "3.8.9"


def test_3_1_is_not_3_10(tmp_path: Path) -> None:
    fake(tmp_path / "pyenv/versions/3.10.1/bin/python", "3.10.1")
    with pytest.raises(OutsideError):
        find_python("3.1")


@pytest.mark.parametrize(
    "what", [{"implementation": "PyPy"}, {"bits": 32}, {"freethreaded": True}], ids=["pypy", "32-bit", "freethreaded"]
)
def test_what_torch_has_no_wheels_for_is_passed_over(tmp_path: Path, what: dict[str, object]) -> None:
    fake(tmp_path / "bin/python3.9", "3.9.1", **what)
    with pytest.raises(OutsideError):
        find_python("3.9")


def test_a_freethreaded_one_is_found_when_asked_for(tmp_path: Path) -> None:
    fake(tmp_path / "bin/python3.9", "3.9.1")
    fake(tmp_path / "bin/python3.9t", "3.9.2", freethreaded=True)
    assert find_python("3.9t").version == "3.9.2"


@pytest.mark.parametrize("body", ["exit 1", "echo nothing", "echo '[]'", "kill -9 $$"])
def test_a_broken_interpreter_is_none(tmp_path: Path, body: str) -> None:
    assert ask(script(tmp_path / "bin/python3.9", body), "PATH") is None


def test_a_candidate_that_hangs_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envsolve.environment.pythons._ASK_SECONDS", 0.2)
    assert ask(script(tmp_path / "bin/python3.9", "exec /bin/sleep 30"), "PATH") is None


def test_uv_is_asked_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    managed = fake(tmp_path / "managed/python3.9", "3.9.5")
    uv = script(tmp_path / "uv", f"echo {managed}")
    monkeypatch.setattr("envsolve.environment.pythons.find_uv", lambda: uv)
    assert find_python("3.9").found_in == "uv"


@pytest.mark.parametrize("version", ["", "3", "2.7", "3.x", "3.12; rm", "../3.12", "3.12tt", "3.12.1.1"])
def test_what_is_no_version(version: str) -> None:
    with pytest.raises(InputError):
        find_python(version)


def test_none_found_says_how_to_get_one() -> None:
    with pytest.raises(OutsideError) as caught:
        find_python("3.99")
    assert "uv python install 3.99" in caught.value.hint and "pyenv install 3.99" in caught.value.hint
