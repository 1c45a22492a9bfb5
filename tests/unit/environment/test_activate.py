"""Activation lines."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from envsolve.environment.activate import activation_lines
from envsolve.environment.create import create, interpreter_of
from envsolve.environment.order import check_platform
from envsolve.environment.pythons import TargetPython, find_uv
from envsolve.errors import OutsideError, RefusedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")


def target() -> TargetPython:
    return TargetPython(
        executable=Path(sys._base_executable),  # type: ignore[attr-defined]
        version=".".join(map(str, sys.version_info[:3])),
        found_in="the test",
        stdlib=Path(sysconfig.get_path("stdlib")),
    )


def test_the_bash_line_switches_it_on_whatever_its_folder_is_called(tmp_path: Path) -> None:
    place = tmp_path / "it's a $HOME"
    create(target(), place, cache_dir=tmp_path / "cache")
    lines = activation_lines(place)
    assert set(lines) == {"bash/zsh", "fish", "PowerShell"}
    done = subprocess.run(["bash", "-c", f"{lines['bash/zsh']} && command -v python"], capture_output=True, text=True)
    assert done.stdout.strip() == str(place / "bin/python"), done.stderr


def test_windows_has_a_line_for_cmd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = tmp_path / "Scripts"
    scripts.mkdir()
    for name in ("activate", "activate.bat", "activate.ps1", "activate.fish"):
        (scripts / name).touch()
    monkeypatch.setattr("envsolve.environment.activate.scripts_of", lambda environment: scripts)
    assert activation_lines(tmp_path)["cmd"] == f'"{scripts / "activate.bat"}"'


def test_venv_steps_in_where_virtualenv_does_not_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import virtualenv

    def refuse(*args: object, **rest: object) -> None:
        raise RuntimeError("the bundled seeder no longer ships pip for Python 3.8")

    monkeypatch.setattr(virtualenv, "cli_run", refuse)
    assert create(target(), tmp_path / "made", cache_dir=tmp_path).tool == "venv"
    done = subprocess.run([interpreter_of(tmp_path / "made"), "-m", "pip", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("pip ")


def test_a_python_without_ensurepip_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "python3.8"
    broken.write_text("#!/bin/sh\necho 'No module named ensurepip'\nexit 1\n")
    broken.chmod(0o755)
    python = TargetPython(executable=broken, version="3.8.1", found_in="the test", stdlib=tmp_path)
    with pytest.raises(OutsideError) as caught:
        create(python, tmp_path / "made", cache_dir=tmp_path)
    assert "ensurepip" in caught.value.message and "python3.8-venv" in caught.value.hint


def test_another_platform_is_refused() -> None:
    check_platform("linux_x86_64", "linux_x86_64")
    with pytest.raises(RefusedError):
        check_platform("linux_aarch64", "linux_x86_64")


def test_uv_makes_nothing_where_no_pip_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without pip would let `pip install` in it reach another one: virtualenv brings its own."""
    monkeypatch.setattr("envsolve.environment.pip_wheel.pip_wheel", lambda python: None)
    created = create(target(), tmp_path / "made", cache_dir=tmp_path, uv=find_uv())
    assert created.tool == "virtualenv" and created.pip_to_add is None
    done = subprocess.run([interpreter_of(tmp_path / "made"), "-m", "pip", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("pip ")


def test_a_uv_that_fails_leaves_it_to_virtualenv(tmp_path: Path) -> None:
    broken = tmp_path / "uv"
    broken.write_text('#!/bin/sh\nfor last; do :; done\nmkdir -p "$last/half"\nexit 1\n')
    broken.chmod(0o755)
    assert create(target(), tmp_path / "made", cache_dir=tmp_path, uv=broken).tool == "virtualenv"
    assert not (tmp_path / "made/half").exists()
    assert create(target(), tmp_path / "again", cache_dir=tmp_path, uv=tmp_path / "none").tool == "virtualenv"


def test_a_full_disk_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import virtualenv

    def full(*args: object, **rest: object) -> None:
        raise RuntimeError("failed to build image\nTraceback …\nOSError: [Errno 28] No space left on device")

    monkeypatch.setattr(virtualenv, "cli_run", full)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(OutsideError, match="the disk is full") as caught:
        create(replace(target(), executable=broken), tmp_path / "made", cache_dir=tmp_path)
    assert len(caught.value.hint.splitlines()) == 1
