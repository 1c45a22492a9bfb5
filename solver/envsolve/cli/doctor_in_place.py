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
from envsolve.record import record, replace
from envsolve.redact import strip_credentials
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.doctor.finding import Finding
    from envsolve.settings import Settings

_STDERR = 2  # sys.stderr may stand for something without a file
_PIP = regex(r"(?:.* -m |uv )?pip (?:un)?install ")
_OPEN = regex(r"(?<![\w./-])(?:NAME|FILE|DIR|IMAGE|VARIANT)\b|…")  # words that stand for what only the user knows


@record
class _Command:
    """What is run, with which variables, and how it is told: with the index that the variables name."""

    words: tuple[str, ...]
    variables: dict[str, str]
    shown: str


def mend(interpreter: Path, finding: Finding, settings: Settings, *, variant: str = "", yes: bool) -> tuple[str, ...]:
    """Run the first way out that is pip's or uv's alone, from where the settings say; the commands as they were run.

    `variant` is the folder of the PyTorch index that the environment's torch came from, "" if from none. Raises
    RefusedError (nothing that an installer could do, or nobody agreed) and OutsideError (it failed).
    """
    sources = _Sources(settings, variant)
    commands = tuple(_own(interpreter, text, sources) for text in _installs(finding))
    if finding.is_elsewhere or not commands:
        raise RefusedError(
            f"no way out here is a pip command, so nothing was changed in place: {finding.headline}",
            hint="" if finding.is_elsewhere else "--fix without --in-place makes a new environment",
        )
    shown = tuple(command.shown for command in commands)
    if not yes:
        _agree(shown)
    for command in commands:
        talk.say(f"running: {command.shown}")
        _run(command)
    return shown


def _installs(finding: Finding) -> tuple[str, ...]:
    """The pip or uv commands of the first way out that has some; a way out for envsolve beside them is left out."""
    for fix in finding.fixes:
        found = tuple(c for c in fix.commands if _PIP.match(c))
        others = [c for c in fix.commands if c not in found and not c.startswith("envsolve ")]
        if found and not others and not any(_OPEN.search(c) for c in found):
            return found
    return ()


class _Sources:
    """Where an installer takes packages from: what the settings say, in its variables, for it may hold passwords."""

    def __init__(self, settings: Settings, variant: str) -> None:
        self._settings = settings
        self._mirror = settings.mirror.rstrip("/")
        self._variant = variant

    def shown(self, address: str) -> str:
        """An address with the mirror in place of the PyTorch index, without a password."""
        return strip_credentials(self._mirrored(address))

    def _mirrored(self, address: str) -> str:
        return address.replace(PYTORCH_INDEX, self._mirror or PYTORCH_INDEX)

    def variables(self, index: str, *, uv: bool) -> dict[str, str]:
        """For pip or uv; a command that names its `index` takes nothing from others.

        A package that torch needs may be on a mirror only: its folder is one more index for it.
        """
        from envsolve.environment.connection import pip_environment, uv_environments

        folder = f"{self._mirror}/{self._variant}"
        more = (folder,) if self._mirror and self._variant else ()
        settings = replace(self._settings, extra_indexes=(*more, *self._settings.extra_indexes))
        if index:
            settings = replace(settings, index=self._mirrored(index), extra_indexes=())
        if uv:
            return {**uv_environments(settings)[-1], "UV_INDEX_STRATEGY": "first-index"}
        return pip_environment(settings)


def _own(interpreter: Path, command: str, sources: _Sources) -> _Command:
    """A command for this interpreter: its own pip, or uv where the environment has no pip."""
    from envsolve.environment.pythons import find_uv

    words = shlex.split(command)
    verb, *words = words[words.index("pip") + 1 :]
    _without(words, "--python")
    index = _without(words, "--index-url")
    has_pip = subprocess.run([interpreter, "-c", "import pip"], capture_output=True, check=False).returncode == 0
    uv = None if has_pip else find_uv()
    if uv:
        words = [str(uv), "pip", verb, "--python", str(interpreter), *words]
    else:
        words = [str(interpreter), "-m", "pip", verb, *(["--yes"] if verb == "uninstall" else []), *words]
    shown = shlex.join([*words, *(["--index-url", sources.shown(index)] if index else [])])
    return _Command(words=tuple(words), variables=sources.variables(index, uv=bool(uv)), shown=shown)


def _without(words: list[str], option: str) -> str:
    """Take an option away; its value, "" where it isn't there."""
    if option not in words:
        return ""
    place = words.index(option)
    value = words[place + 1]
    del words[place : place + 2]
    return value


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


def _run(command: _Command) -> None:
    try:
        done = subprocess.run(
            command.words, env=command.variables, stdin=subprocess.DEVNULL, stdout=_STDERR, check=False
        )
    except OSError as error:
        raise OutsideError(f"can't start {command.words[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        raise OutsideError(f"{command.shown} failed with status {done.returncode}", hint="see its words above")
