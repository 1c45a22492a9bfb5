"""Start: run a program in an environment as if it had been activated; its exit code and signals are its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from envsolve.environment.create import is_condas, scripts_of
from envsolve.environment.store import Slot, hold_shared
from envsolve.errors import InputError, OutsideError

_OTHERS = ("PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")


def start(slot: Slot, command: Sequence[str]) -> int:
    """Become the program (POSIX: never returns), or run it and give its exit code (Windows).

    The build is held while the program and what it starts run, so that no other envsolve removes it under them.
    Raises InputError (no such environment or program), OutsideError (it can't be started).
    """
    build = slot.current()
    if build is None:
        raise InputError(f"there is no environment {slot.shown_name!r}", hint="envsolve envs list")
    held = hold_shared(slot, build)
    if held is None or slot.current() != build:
        raise OutsideError(f"the environment {slot.shown_name!r} is being replaced or removed", hint="try again")
    env = activated(build)
    program = shutil.which(command[0], path=env["PATH"])
    if program is None:
        raise InputError(
            f"there is no program {command[0]!r}", hint="envsolve envs run NAME -- python -c 'import torch'"
        )
    try:
        return _run(program, command, env, held)
    except OSError as error:
        raise OutsideError(f"could not start {program}: {error.strerror}") from error


def activated(build: Path) -> dict[str, str]:
    """The process's environment with this one switched on, and any other one off."""
    env = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    env["CONDA_PREFIX" if is_condas(build) else "VIRTUAL_ENV"] = str(build)
    env["PATH"] = os.pathsep.join([*map(str, _folders(build)), os.environ.get("PATH", os.defpath)])
    return env


def _folders(build: Path) -> list[Path]:
    """Where its programs are; on Windows, conda's need its libraries on PATH as well."""
    if os.name == "nt" and is_condas(build):
        library = build / "Library"
        return [build, library / "mingw-w64" / "bin", library / "usr" / "bin", library / "bin", build / "Scripts"]
    return [scripts_of(build)]


def _run(program: str, command: Sequence[str], env: dict[str, str], held: int) -> int:
    if sys.platform == "win32":
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program
        try:
            return subprocess.run([program, *command[1:]], env=env).returncode
        finally:
            signal.signal(signal.SIGINT, previous)
    os.set_inheritable(held, True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, [command[0], *command[1:]], env)
