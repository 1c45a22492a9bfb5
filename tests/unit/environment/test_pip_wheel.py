"""The pip that a new environment gets."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
import zipfile
from pathlib import Path

from envsolve.environment.pip_wheel import pip_wheel
from envsolve.environment.pythons import TargetPython


def target(version: str, stdlib: Path) -> TargetPython:
    return TargetPython(executable=Path("python"), version=version, found_in="the test", stdlib=stdlib)


def bundled(stdlib: Path, version: str, requires: str) -> Path:
    folder = stdlib / "ensurepip" / "_bundled"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pip-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"pip-{version}.dist-info/METADATA", f"Name: pip\nRequires-Python: {requires}\n")
    return path


def test_the_running_python_has_one() -> None:
    wheel = pip_wheel(target(".".join(map(str, sys.version_info[:3])), Path(sysconfig.get_path("stdlib"))))
    assert wheel is not None and wheel.path.name.startswith("pip-")
    assert wheel.requirement == f"pip @ {wheel.path.as_uri()} --hash=sha256:{wheel.sha256}"


def test_an_old_python_gets_its_own(tmp_path: Path) -> None:
    old = bundled(tmp_path, "18.1", ">=2.7")
    bundled(tmp_path, "9999", ">=3.7")
    found = pip_wheel(target("3.6.15", tmp_path))
    assert found is not None and found.path == old


def test_the_newest_that_runs_wins(tmp_path: Path) -> None:
    bundled(tmp_path, "9.0", ">=3.6")
    newest = bundled(tmp_path, "10000.1", ">=3.6")
    found = pip_wheel(target("3.12.1", tmp_path))
    assert found is not None and found.path == newest
    assert found.sha256 == hashlib.sha256(newest.read_bytes()).hexdigest()


def test_a_python_without_any(tmp_path: Path) -> None:
    (tmp_path / "ensurepip/_bundled").mkdir(parents=True)
    (tmp_path / "ensurepip/_bundled/pip-1-py3-none-any.whl").write_text("<html>not a zip")
    assert pip_wheel(target("2.7.18", tmp_path)) is None
