"""Talk to people: everything that is not data goes to stderr."""

from __future__ import annotations

import sys

_level = 1
_told_error = False


def set_level(*, quiet: bool, verbose: bool) -> None:
    """-q leaves errors only; -v adds detail."""
    global _level, _told_error
    _told_error = False
    _level = 0 if quiet else 2 if verbose else 1


def level() -> int:
    """0 with -q, 2 with -v, else 1."""
    return _level


def say(text: str) -> None:
    """A line about what is being done (not with -q)."""
    if _level >= 1:
        print(text, file=sys.stderr)


def detail(text: str) -> None:
    """A line for -v."""
    if _level >= 2:
        print(text, file=sys.stderr)


def told_error() -> bool:
    """Whether this command line has printed an error."""
    return _told_error


def error(message: str, hint: str) -> None:
    """`error: …`, then `hint: …` when there is one."""
    global _told_error
    _told_error = True
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"hint: {hint}", file=sys.stderr)
