"""Pythons: finding an interpreter of the asked version on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envsolve.errors import InputError, OutsideError
from envsolve.record import record
from envsolve.regex import regex

# Runs inside whatever Python is found, 3.6 included: standard library and 3.6 syntax only.
_ASK = """
import json, platform, struct, sys, sysconfig
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "implementation": platform.python_implementation(),
    "bits": struct.calcsize("P") * 8,
    "freethreaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "base": getattr(sys, "_base_executable", None) or sys.executable,
    "stdlib": sysconfig.get_path("stdlib"),
}))
"""
_ASK_SECONDS = 20.0
_VERSION = regex(r"3\.\d{1,2}(\.\d{1,2})?t?", re.ASCII)


@record
class TargetPython:
    """An interpreter for new environments: "3.12.1", where it and its library are, where it was found ("PATH")."""

    executable: Path
    version: str
    found_in: str
    stdlib: Path
    freethreaded: bool = False

    @property
    def minor(self) -> str:
        """ "3.12"."""
        return ".".join(self.version.split(".")[:2])


def find_python(version: str) -> TargetPython:
    """The first 64-bit CPython of the asked version ("3.12", "3.12.4" or "3.13t") that runs.

    Looks at the running one, PATH, pyenv, the py launcher and uv, in that order. Raises InputError for a version that
    isn't one, OutsideError when there is none.
    """
    if not _VERSION.fullmatch(version):
        raise InputError(f"not a Python version: {version!r}", hint="--python 3.12")
    running = _running()
    if running and _matches(running, version):
        return running
    for found_in, executable in _candidates(version.rstrip("t")):
        python = ask(executable, found_in)
        if python and _matches(python, version):
            return python
    raise OutsideError(
        f"no Python {version} was found on this machine (running interpreter, PATH, pyenv, py launcher, uv)",
        hint=f"uv python install {version}   (or: pyenv install {version}; conda create -n py python={version})",
    )


def ask(executable: Path, found_in: str) -> TargetPython | None:
    """Run a candidate and let it say what it is; None when it doesn't run, or isn't a 64-bit CPython."""
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=True,
            text=True,
        )
        return _python(json.loads(done.stdout), executable, found_in)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None


def _python(said: dict[str, Any], executable: Path, found_in: str) -> TargetPython | None:
    if said["implementation"] != "CPython" or said["bits"] != 64:
        return None
    # The base of a venv, not the venv: an environment made from another one breaks when that one is removed.
    base = Path(said["base"])
    return TargetPython(
        executable=base if base.exists() else executable,
        version=said["version"],
        found_in=found_in,
        stdlib=Path(said["stdlib"]),
        freethreaded=said["freethreaded"],
    )


def _matches(python: TargetPython, version: str) -> bool:
    asked, has = version.rstrip("t").split("."), python.version.split(".")
    return has[: len(asked)] == asked and python.freethreaded == version.endswith("t")


def _candidates(version: str) -> Iterator[tuple[str, Path]]:
    """Every place to look, without running anything until it is that place's turn."""
    seen: set[Path] = set()
    sources = (_on_path(version), _pyenv(version), _py_launcher(version), _uv(version))
    for found_in, executable in (pair for source in sources for pair in source):
        if executable not in seen:
            seen.add(executable)
            yield found_in, executable


def _running() -> TargetPython | None:
    """The Python that runs us, which needn't be started to be asked."""
    said = {
        "version": ".".join(map(str, sys.version_info[:3])),
        "implementation": "CPython" if sys.implementation.name == "cpython" else sys.implementation.name,
        "bits": struct.calcsize("P") * 8,
        "freethreaded": _freethreaded(),
        "base": getattr(sys, "_base_executable", None) or sys.executable,
        "stdlib": sysconfig.get_path("stdlib"),
    }
    return _python(said, Path(sys.executable), "the running Python")


def _freethreaded() -> bool:
    """Whether the running Python is such a build; sysconfig's variables cost milliseconds to read."""
    flags: str | None = getattr(sys, "abiflags", None)  # Windows has none before 3.14
    return "t" in flags if flags is not None else bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _on_path(version: str) -> Iterator[tuple[str, Path]]:
    names = (f"python{version}", f"python{_minor(version)}", f"python{_minor(version)}t", "python3", "python")
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        # Each folder, not only the first hit: pyenv's shims come first and refuse versions that aren't switched on.
        for name in names:
            found = shutil.which(name, path=folder) if folder else None
            if found:
                yield "PATH", Path(found)


def _pyenv(version: str) -> Iterator[tuple[str, Path]]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folder = root / ("pyenv-win/versions" if sys.platform == "win32" else "versions")
    try:
        installed = [path for path in folder.iterdir() if path.name.startswith(_minor(version))]
    except OSError:
        return
    for path in sorted(installed, key=lambda p: _numbers(p.name), reverse=True):
        yield "pyenv", path / ("python.exe" if sys.platform == "win32" else "bin/python")


def _py_launcher(version: str) -> Iterator[tuple[str, Path]]:
    launcher = shutil.which("py") if sys.platform == "win32" else None
    if launcher:
        yield from _first_line(
            "py launcher", [launcher, f"-{_minor(version)}", "-c", "import sys; print(sys.executable)"]
        )


def _uv(version: str) -> Iterator[tuple[str, Path]]:
    uv = find_uv()
    if uv:
        command = [str(uv), "python", "find", version, "--no-config", "--no-python-downloads", "--managed-python"]
        yield from _first_line("uv", command)


def find_uv() -> Path | None:
    """uv on PATH or beside the running interpreter."""
    beside = Path(sys.executable).with_name("uv.exe" if sys.platform == "win32" else "uv")
    found = shutil.which("uv")
    return Path(found) if found else beside if beside.is_file() else None


def _first_line(found_in: str, command: list[str]) -> Iterator[tuple[str, Path]]:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK_SECONDS, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return
    line = done.stdout.partition("\n")[0].strip()
    if line:
        yield found_in, Path(line)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", name))
