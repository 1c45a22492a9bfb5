"""Fill: let uv or pip install exactly what a lock pins, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from envsolve.environment.child import Ended, run_child
from envsolve.environment.connection import options, pip_environment, uv_environments
from envsolve.environment.failure import OtherBytes, explain
from envsolve.environment.pythons import find_uv
from envsolve.errors import InputError, OutsideError
from envsolve.settings import Settings, redact

Choice = Literal["auto", "uv", "pip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """The tool that fills an environment: uv at a path, or the pip inside the environment."""

    name: Literal["uv", "pip"]
    executable: Path | None = None

    @property
    def shown(self) -> str:
        return f"uv ({self.executable})" if self.executable else "pip (the environment's own)"


def choose_installer(choice: Choice) -> Installer:
    """uv if it is on PATH or beside the running Python, else pip. Raises InputError when uv was asked for in vain."""
    uv = find_uv() if choice != "pip" else None
    if uv:
        return Installer(name="uv", executable=uv)
    if choice == "uv":
        raise InputError("uv was asked for and is neither on PATH nor beside envsolve", hint="--installer pip")
    return Installer(name="pip")


def fill(
    interpreter: Path,
    lock_file: Path,
    *,
    installer: Installer,
    settings: Settings,
    on_line: Callable[[str], None],
    keep_open: int | None = None,
) -> None:
    """Install the hashed requirements of `lock_file` into the environment of `interpreter`.

    Hashes are always required, dependencies never looked up, and nothing is compiled. `on_line` gets each line that
    the installer says. Raises RefusedError (other bytes than the lock's, or files that don't fit this Python),
    OutsideError (network, disk, the tool itself).
    """
    command = [*_command(installer, interpreter, lock_file), *options(settings, installer.name)]
    *first, last = uv_environments(settings) if installer.name == "uv" else (pip_environment(settings),)
    for env in first:
        try:
            return _run(installer, command, env, on_line, keep_open)
        except OtherBytes:
            continue
    _run(installer, command, last, on_line, keep_open)


def _run(
    installer: Installer, command: list[str], env: dict[str, str], on_line: Callable[[str], None], keep_open: int | None
) -> None:
    try:
        ended = run_child(command, env=env, on_line=lambda line: on_line(redact(line)), keep_open=keep_open)
    except OSError as error:
        raise OutsideError(f"could not start {command[0]}: {error.strerror}") from error
    _check(ended, installer)


def _command(installer: Installer, interpreter: Path, lock_file: Path) -> list[str]:
    tool = (
        [str(installer.executable), "pip", "install", "--python", str(interpreter)]
        if installer.executable
        else [str(interpreter), "-I", "-m", "pip", "install", "--progress-bar", "off"]
    )
    return [*tool, "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock_file)]


def _check(ended: Ended, installer: Installer) -> None:
    if ended.code == 0:
        return
    if ended.code < 0 and os.name != "nt":
        raise OutsideError(
            f"{installer.name} was killed by signal {-ended.code}", hint="out of memory? dmesg | tail shows it"
        )
    raise explain(installer.name, ended)
