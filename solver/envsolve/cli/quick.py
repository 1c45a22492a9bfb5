"""Quick: the plainest `envsolve install --lock`, read without the library that reads every other command line.

That library takes as long to load as uv to make an environment. Whatever isn't exactly of this form is left to it, and
so is all that is wrong: it alone words what to say about a command line. A test holds both to the same answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from envsolve.record import record

_TEXTS = ("--name", "--source", "--mirror", "--index")
_PATHS = {"--path": "path", "--lock": "lock_file", "--cache-dir": "cache_dir"}
_LISTS = ("--extra-index", "--find-links")
_SWITCHES = {"--replace": "replace", "--json": "as_json", "--offline": "offline", "--refresh": "refresh"}
_CHOICES = ("--installer", "--verify")


@record
class Plain:
    """What the line says: the arguments of `installed`, and how much is told."""

    words: dict[str, Any]
    quiet: bool = False
    verbose: bool = False

    def run(self) -> int:
        """Install; the exit code."""
        from envsolve.cli import talk
        from envsolve.cli.installed import installed
        from envsolve.cli.planned import Asked

        talk.set_level(quiet=self.quiet, verbose=self.verbose)
        return installed(Asked(), **self.words)


def read(argv: Sequence[str]) -> Plain | None:
    """The install that a command line asks for, or None where it is for typer to read."""
    if "install" not in argv or "--lock" not in argv or "_ENVSOLVE_COMPLETE" in os.environ:
        return None
    start = argv.index("install")
    before = argv[:start]
    if not {"-q", "--quiet", "-v", "--verbose"}.issuperset(before):
        return None
    words = _words(list(argv[start + 1 :]))
    if words is None or "lock_file" not in words:
        return None
    return Plain(words=words, quiet=_any(before, "-q", "--quiet"), verbose=_any(before, "-v", "--verbose"))


def _any(given: Sequence[str], *flags: str) -> bool:
    return any(flag in given for flag in flags)


def _words(rest: list[str]) -> dict[str, Any] | None:
    readers = _readers()
    words: dict[str, Any] = {}
    while rest:
        flag = rest.pop(0)
        if flag in _SWITCHES:
            words[_SWITCHES[flag]] = True
            continue
        value = rest.pop(0) if rest else ""
        if flag not in readers or not value or value.startswith("-"):
            return None
        name = _PATHS.get(flag, flag.removeprefix("--").replace("-", "_"))
        try:
            words[name] = [*words.get(name, ()), value] if flag in _LISTS else readers[flag](value)
        except ValueError:  # no such choice
            return None
    return words


def _readers() -> dict[str, Callable[[str], object]]:
    from pathlib import Path

    from envsolve.cli.installing import Tool, When

    choices: dict[str, type[StrEnum]] = dict(zip(_CHOICES, (Tool, When), strict=True))
    return {**dict.fromkeys((*_TEXTS, *_LISTS), str), **dict.fromkeys(_PATHS, Path), **choices}
