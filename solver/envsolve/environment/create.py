"""Create: an empty isolated environment for a given interpreter, with pip inside and without any network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.environment.child import Ended, plain_environment
from envsolve.environment.failure import explain, is_known
from envsolve.environment.pythons import TargetPython
from envsolve.environment.tree import remove_tree
from envsolve.errors import OutsideError
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.environment.pip_wheel import PipWheel

_VENV_SECONDS = 300.0


@record
class Created:
    """What made an environment, and the wheel of pip that it still lacks (None: pip is in).

    `relocatable`: nothing that is installed into it will hold its path.
    """

    tool: str
    pip_to_add: PipWheel | None = None
    relocatable: bool = False


def create(python: TargetPython, path: Path, *, cache_dir: Path, uv: Path | None = None) -> Created:
    """Make the environment at `path`, where it stays. No system packages are visible inside.

    With uv, `uv venv` (a tenth of a second; pip is then installed with the rest, from a wheel that is on this machine);
    its commands find the Python beside them, so that uv may be told another path to it.
    Else virtualenv where it still serves this Python (it seeds pip from wheels of its own), else the `venv` of that
    Python with its own ensurepip. Raises OutsideError.
    """
    if uv:
        relocatable = _finds_itself()
        pip = _with_uv(uv, python, path, relocatable=relocatable)
        if pip:
            return Created(tool="uv venv", pip_to_add=pip, relocatable=relocatable)
        remove_tree(path)
    reason = _with_virtualenv(python, path, cache_dir)
    if reason is None:
        return Created(tool="virtualenv")
    _with_venv(python, path, reason)
    return Created(tool="venv")


def interpreter_of(environment: Path) -> Path:
    """The Python inside an environment; conda's has its place at the top on Windows."""
    if os.name == "nt" and is_condas(environment):
        return environment / "python.exe"
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_condas(environment: Path) -> bool:
    """Whether conda made an environment (any version of it, or py-rattler)."""
    return (environment / "conda-meta").is_dir()


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


def _finds_itself() -> bool:
    """Whether a script can find the Python beside it: on POSIX uv's relocatable ones ask `realpath` where they are."""
    return os.name != "nt" and shutil.which("realpath") is not None


def _with_uv(uv: Path, python: TargetPython, path: Path, *, relocatable: bool) -> PipWheel | None:
    """The wheel of pip for the environment that uv made; None where it made none, or no pip is on this machine."""
    command = [str(uv), "venv", "--no-project", "--no-config", "--python", str(python.executable), str(path)]
    if relocatable:
        command.append("--relocatable")
    quiet = subprocess.DEVNULL
    try:
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=plain_environment()) as process:
            try:
                from envsolve.environment.pip_wheel import pip_wheel  # while uv works: half as long as it does

                pip = pip_wheel(python)
                return pip if process.wait(_VENV_SECONDS) == 0 else None
            except BaseException:
                process.kill()
                raise
    except (OSError, subprocess.SubprocessError):
        return None


def _with_venv(python: TargetPython, path: Path, reason: str) -> None:
    done = _run([str(python.executable), "-I", "-m", "venv", "--clear", str(path)])
    if done.returncode != 0:
        said = [*reason.splitlines(), *done.stdout.strip().splitlines()]
        if is_known(said):
            raise explain("venv", Ended(code=done.returncode, last_lines=tuple(said)))
        last = "; ".join(said[-3:])
        raise OutsideError(
            f"could not create an environment with Python {python.version} at {python.executable}: {last}",
            hint=f"virtualenv said: {said[0]}; on Debian and Ubuntu: apt install python{python.minor}-venv",
        )


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
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
        raise OutsideError(f"could not create an environment with {command[0]}: {error}") from error
