"""The Pythons of this machine by their version, told by names and folders: none is run for it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from envsolve.machine.host import running_python
from envsolve.machine.probe import Probe
from envsolve.regex import regex

_ON_PATH = regex(r"python(3\.\d{1,2})(?:\.exe)?")
_PYENV = regex(r"(3\.\d{1,2})\.\d{1,2}")
_UV = regex(r"cpython-(3\.\d{1,2})\.\d{1,2}-.*")
_LAUNCHER = regex(r"^ *-(?:V:)?(3\.\d{1,2})(?:-64)?\b", re.MULTILINE)
_SECONDS = 10.0


def find_pythons(probe: Probe) -> tuple[str, ...]:
    """The minor versions found, the running one first, then newest first: ("3.11", "3.13", "3.12")."""
    running = running_python()
    others = {*_on_path(probe), *_pyenv(probe), *_uv(probe), *_launcher(probe)} - {running}
    return (running, *sorted(others, key=_minor, reverse=True))


def _on_path(probe: Probe) -> Iterator[str]:
    for folder in probe.environ.get("PATH", "").split(os.pathsep):
        if folder and not folder.replace("\\", "/").rstrip("/").endswith("/shims"):  # shims may refuse to run
            yield from _matches(probe, folder, _ON_PATH)


def _pyenv(probe: Probe) -> Iterator[str]:
    root = probe.environ.get("PYENV_ROOT") or f"{_home(probe)}/.pyenv"
    yield from _matches(probe, f"{root}/versions", _PYENV)
    yield from _matches(probe, f"{root}/pyenv-win/versions", _PYENV)


def _uv(probe: Probe) -> Iterator[str]:
    environ, home = probe.environ, _home(probe)
    data = environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
    folders = [environ.get("UV_PYTHON_INSTALL_DIR"), f"{data}/uv/python"]
    if probe.system == "win32" and environ.get("APPDATA"):
        folders.append(f"{environ['APPDATA']}/uv/python")
    for folder in filter(None, folders):
        yield from _matches(probe, folder, _UV)


def _launcher(probe: Probe) -> list[str]:
    if probe.system != "win32":
        return []
    ran = probe.run(["py", "-0p"], _SECONDS)
    return _LAUNCHER.findall(ran.out)


def _matches(probe: Probe, folder: str, form: re.Pattern[str]) -> Iterator[str]:
    yield from (match[1] for name in probe.list(folder) if (match := form.fullmatch(name)))


def _home(probe: Probe) -> str:
    return probe.environ.get("USERPROFILE" if sys.platform == "win32" else "HOME") or "/nonexistent"


def _minor(version: str) -> int:
    return int(version.split(".")[1])
