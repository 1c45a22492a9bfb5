"""Start: run a program in an environment as if it had been activated; its exit code and signals are its own.

In an environment that conda made, this is what `conda run` does: the variables that were set for it (`conda env config
vars set`), then the scripts that its packages brought for activation (CUDA_HOME and the like). Not on Windows: there
the scripts are cmd's, which takes a command line apart in ways of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from envsolve.environment.create import is_condas, scripts_of
from envsolve.environment.store import Slot, hold_shared
from envsolve.errors import InputError, OutsideError

# Sourced in a function, so that they don't take the program's arguments for their own; `exec` leaves no shell behind.
_SOURCE = """
_envsolve_activate() { for _envsolve_script in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do
    . "$_envsolve_script"
done; }
_envsolve_activate
unset -f _envsolve_activate; unset _envsolve_script
exec "$@"
"""
# conda notes a variable that was unset again like this.
_UNSET = "***unset***"
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
    words = list(command)
    if shell := _shell(build, env):
        program, words = shell, [shell, "-c", _SOURCE, shell, program, *command[1:]]
    try:
        return _run(program, words, env, held)
    except OSError as error:
        raise OutsideError(f"could not start {program}: {error.strerror}") from error


def activated(build: Path) -> dict[str, str]:
    """The process's environment with this one switched on, and any other one off."""
    env = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    if is_condas(build):
        env |= {"CONDA_PREFIX": str(build), "CONDA_DEFAULT_ENV": str(build), **_variables(build)}
    else:
        env["VIRTUAL_ENV"] = str(build)
    env["PATH"] = os.pathsep.join([*map(str, _folders(build)), os.environ.get("PATH", os.defpath)])
    return env


def _variables(build: Path) -> dict[str, str]:
    """What `conda env config vars set` has noted for an environment; none where that can't be read."""
    try:
        said = json.loads((build / "conda-meta" / "state").read_text(encoding="utf-8"))["env_vars"]
        return {str(name): str(value) for name, value in said.items() if value != _UNSET}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _shell(build: Path, env: Mapping[str, str]) -> str | None:
    """The shell for the scripts of activation, bash as with `conda run`; None where there are no scripts."""
    if os.name == "nt" or not is_condas(build) or not any((build / "etc/conda/activate.d").glob("*.sh")):
        return None
    return shutil.which("bash", path=env["PATH"]) or shutil.which("sh", path=env["PATH"])


def _folders(build: Path) -> list[Path]:
    """Where its programs are; on Windows, conda's need its libraries on PATH as well."""
    if os.name == "nt" and is_condas(build):
        library = build / "Library"
        return [build, library / "mingw-w64" / "bin", library / "usr" / "bin", library / "bin", build / "Scripts"]
    return [scripts_of(build)]


def _run(program: str, words: Sequence[str], env: dict[str, str], held: int) -> int:
    if sys.platform == "win32":
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program
        try:
            return subprocess.run([program, *words[1:]], env=env).returncode
        finally:
            signal.signal(signal.SIGINT, previous)
    os.set_inheritable(held, True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, list(words), env)
