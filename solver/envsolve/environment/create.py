"""Create: an empty isolated environment for a given interpreter, with pip inside and without any network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from envsolve.environment.child import plain_environment
from envsolve.environment.pythons import TargetPython
from envsolve.errors import OutsideError

_VENV_SECONDS = 300.0


def create(python: TargetPython, path: Path, *, cache_dir: Path) -> str:
    """Make the environment at `path`, where it stays: it can't be moved. Gives the tool that made it.

    virtualenv where it still serves this Python (it seeds pip from wheels of its own), else the `venv` of that Python
    with its own ensurepip. No system packages are visible inside. Raises OutsideError.
    """
    reason = _with_virtualenv(python, path, cache_dir)
    if reason is None:
        return "virtualenv"
    _with_venv(python, path, reason)
    return "venv"


def interpreter_of(environment: Path) -> Path:
    """The Python inside an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def scripts_of(environment: Path) -> Path:
    """The folder of an environment's commands."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def _with_virtualenv(python: TargetPython, path: Path, cache_dir: Path) -> str | None:
    """None when it worked, else why not."""
    import virtualenv  # costs 0.1 s

    options = [str(path), "--python", str(python.executable), "--no-download", "--no-periodic-update"]
    options += ["--no-vcs-ignore", "--app-data", str(cache_dir / "virtualenv")]
    # The user's VIRTUALENV_* variables and virtualenv.ini would change what is made.
    clean = {**plain_environment(), "VIRTUALENV_CONFIG_FILE": os.devnull}
    try:
        virtualenv.cli_run(options, setup_logging=False, env=clean)
    except (Exception, SystemExit) as error:  # its API raises RuntimeError, OSError, ImportError or SystemExit
        return str(error) or type(error).__name__
    return None


def _with_venv(python: TargetPython, path: Path, reason: str) -> None:
    command = [str(python.executable), "-I", "-m", "venv", "--clear", str(path)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=plain_environment(),
            timeout=_VENV_SECONDS,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise OutsideError(f"could not create an environment with {python.executable}: {error}") from error
    if done.returncode != 0:
        last = "; ".join(done.stdout.strip().splitlines()[-3:])
        raise OutsideError(
            f"could not create an environment with Python {python.version} at {python.executable}: {last}",
            hint=f"virtualenv said: {reason}; on Debian and Ubuntu: apt install python{python.minor}-venv",
        )
