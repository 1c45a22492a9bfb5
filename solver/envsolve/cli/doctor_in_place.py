"""In place: the commands of a finding, run by the environment's own pip or uv. Only where somebody said so."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.addresses import PYTORCH_INDEX
from envsolve.cli import talk
from envsolve.errors import InputError, OutsideError, RefusedError
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.doctor.finding import Finding

_STDERR = 2  # sys.stderr may stand for something without a file
_OPEN = regex(r"(?<![\w./-])(?:NAME|FILE|DIR|IMAGE|VARIANT)\b|…")  # words that stand for what only the user knows


def mend(interpreter: Path, finding: Finding, *, yes: bool, mirror: str = "") -> tuple[str, ...]:
    """Run the first way out that is pip's or uv's alone, with a mirror in place of the PyTorch index; the commands as
    they were run.

    Raises RefusedError (nothing that an installer could do, or nobody agreed) and OutsideError (it failed).
    """
    base = mirror.rstrip("/") or PYTORCH_INDEX
    commands = tuple(_own(interpreter, text.replace(PYTORCH_INDEX, base)) for text in _installs(finding))
    if finding.is_elsewhere or not commands:
        raise RefusedError(
            f"no way out here is a pip command, so nothing was changed in place: {finding.headline}",
            hint="" if finding.is_elsewhere else "--fix without --in-place makes a new environment",
        )
    shown = tuple(map(shlex.join, commands))
    if not yes:
        _agree(shown)
    for command, text in zip(commands, shown, strict=True):
        talk.say(f"running: {text}")
        _run(command)
    return shown


def _installs(finding: Finding) -> tuple[str, ...]:
    """The pip or uv commands of the first way out that has some; a way out for envsolve beside them is left out."""
    for fix in finding.fixes:
        found = tuple(c for c in fix.commands if c.startswith(("pip install", "pip uninstall", "uv pip")))
        others = [c for c in fix.commands if c not in found and not c.startswith("envsolve ")]
        if found and not others and not any(_OPEN.search(c) for c in found):
            return found
    return ()


def _own(interpreter: Path, command: str) -> list[str]:
    """A command for this interpreter: its own pip, or uv where the environment has no pip."""
    from envsolve.environment.pythons import find_uv

    words = shlex.split(command)
    words = words[words.index("pip") + 1 :]
    has_pip = subprocess.run([interpreter, "-c", "import pip"], capture_output=True, check=False).returncode == 0
    uv = None if has_pip else find_uv()
    if uv:
        return [str(uv), "pip", words[0], "--python", str(interpreter), *words[1:]]
    yes = ["--yes"] if words[0] == "uninstall" else []
    return [str(interpreter), "-m", "pip", words[0], *yes, *words[1:]]


def _agree(commands: tuple[str, ...]) -> None:
    """Raises InputError where nobody can be asked, RefusedError where the answer is no."""
    if not sys.stdin.isatty():
        raise InputError(
            "--in-place changes an environment that envsolve did not make, and nobody can be asked", hint="add --yes"
        )
    for line in ("this will run:", *(f"  {command}" for command in commands)):
        print(line, file=sys.stderr)
    print("go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusedError("nothing was changed", hint="--fix without --in-place makes a new environment")


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=_STDERR, check=False)
    except OSError as error:
        raise OutsideError(f"can't start {command[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        raise OutsideError(f"{shlex.join(command)} failed with status {done.returncode}", hint="see its words above")
