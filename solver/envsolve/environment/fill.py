"""Fill: let uv, pip or pip-sync install exactly what a lock pins, and nothing else."""

from __future__ import annotations

import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from envsolve.environment.child import Ended, run_child
from envsolve.environment.connection import options, pip_environment, uv_environments
from envsolve.environment.failure import NotListed, OtherBytes, explain
from envsolve.environment.pythons import find_uv
from envsolve.errors import EnvsolveError, InputError, OutsideError
from envsolve.record import record
from envsolve.settings import Settings, redact

Choice = Literal["auto", "uv", "pip", "pip-sync"]
_ONLY = ("--no-deps", "--require-hashes")


@record
class Installer:
    """The tool that fills an environment: uv or pip-sync at a path, or the pip inside the environment."""

    name: Literal["uv", "pip", "pip-sync"]
    executable: Path | None = None

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.executable})" if self.executable else "pip (the environment's own)"

    @property
    def uv(self) -> Path | None:
        """Where uv is, when it is the installer."""
        return self.executable if self.name == "uv" else None


def choose_installer(choice: Choice) -> Installer:
    """uv if it is on PATH or beside the running Python, else pip. Raises InputError for one that isn't there."""
    if choice == "pip-sync":
        return Installer(name="pip-sync", executable=_find_pip_sync())
    uv = find_uv() if choice != "pip" else None
    if uv:
        return Installer(name="uv", executable=uv)
    if choice == "uv":
        raise InputError("uv was asked for and is neither on PATH nor beside envsolve", hint="--installer pip")
    return Installer(name="pip")


def _find_pip_sync() -> Path:
    beside = Path(sys.executable).with_name("pip-sync.exe" if sys.platform == "win32" else "pip-sync")
    found = shutil.which("pip-sync") or (str(beside) if beside.is_file() else None)
    if found is None:
        raise InputError(
            "pip-sync was asked for and is neither on PATH nor beside envsolve", hint="pip install pip-tools"
        )
    return Path(found)


def fill(
    interpreter: Path,
    lock_file: Path,
    *,
    installer: Installer,
    settings: Settings,
    on_line: Callable[[str], None],
    keep_open: tuple[int, ...] = (),
    sources: bool = False,
) -> None:
    """Install the hashed requirements of `lock_file` into the environment of `interpreter`.

    Hashes are always required, dependencies never looked up, and nothing is built unless the lock has `sources`.
    `on_line` gets each line that the installer says. Raises RefusedError (other bytes than the lock's, or files that
    don't fit this Python), OutsideError (network, disk, the tool itself).
    """
    command = [*_command(installer, interpreter, lock_file, sources=sources), *options(settings, installer.name)]
    for env, more, goes_on in _tries(installer, settings):
        try:
            return _run(installer, [*command, *more], env, on_line, keep_open)
        except goes_on:
            continue


def _tries(
    installer: Installer, settings: Settings
) -> Iterator[tuple[dict[str, str], list[str], tuple[type[EnvsolveError], ...]]]:
    """Variables, further options, and the errors after which the next try is worth its while; the last has none."""
    if not installer.uv:
        yield pip_environment(settings), [], ()
        return
    *first, last = uv_environments(settings)
    for env in first:
        yield env, [], (OtherBytes, NotListed)
    # uv keeps pages for minutes: a lock may be newer.
    again = not settings.offline and not settings.refresh
    yield last, [], (NotListed,) if again else ()
    if again:
        yield last, ["--refresh"], ()


def _run(
    installer: Installer,
    command: list[str],
    env: dict[str, str],
    on_line: Callable[[str], None],
    keep_open: tuple[int, ...],
) -> None:
    try:
        ended = run_child(command, env=env, on_line=lambda line: on_line(redact(line)), keep_open=keep_open)
    except OSError as error:
        raise OutsideError(f"could not start {command[0]}: {error.strerror}") from error
    _check(ended, installer)


def _command(installer: Installer, interpreter: Path, lock_file: Path, *, sources: bool) -> list[str]:
    only = [*_ONLY] if sources else [*_ONLY, "--only-binary", ":all:"]
    if installer.name == "pip-sync":
        arguments = shlex.join([*only, "--progress-bar", "off"])
        target = ["--python-executable", str(interpreter), "--pip-args", arguments]
        return [str(installer.executable), "--no-config", *target, str(lock_file)]
    return [*_pip(installer, interpreter), *only, "-r", str(lock_file)]


def _pip(installer: Installer, interpreter: Path) -> list[str]:
    if installer.uv:
        return [str(installer.uv), "pip", "install", "--python", str(interpreter)]
    return [str(interpreter), "-I", "-m", "pip", "install", "--progress-bar", "off"]


def fill_project(
    interpreter: Path,
    project: Path,
    *,
    installer: Installer,
    settings: Settings,
    on_line: Callable[[str], None],
    keep_open: tuple[int, ...] = (),
) -> None:
    """Install the user's own project, editable, without what it requires: the lock has that. Raises OutsideError."""
    tool = "uv" if installer.uv else "pip"
    command = [*_pip(installer, interpreter), "--no-deps", "--editable", str(project), *options(settings, tool)]
    env = uv_environments(settings)[-1] if installer.uv else pip_environment(settings)
    _run(installer, command, env, on_line, keep_open)


def _check(ended: Ended, installer: Installer) -> None:
    if ended.code == 0:
        return
    if ended.code < 0 and sys.platform != "win32":
        limit = -ended.code == signal.SIGXFSZ
        raise OutsideError(
            f"{installer.name} was killed by signal {-ended.code}",
            hint="it wrote a larger file than it may: ulimit -f" if limit else "out of memory? dmesg | tail shows it",
        )
    raise explain(installer.name, ended)
