"""The command that makes a lock again, for its header: nothing that differs between machines, no credentials."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

from envsolve.regex import regex

_LINE_BREAKS = regex(r"\s+")


def lock_command(requirements: Sequence[str], options: Mapping[str, object]) -> str:
    """`envsolve lock …` with these requirements and options ("--python": "3.12"; lists repeat the option).

    Options without a value are left out. Of an absolute path only the name is kept, addresses lose user and password.
    """
    words = ["envsolve", "lock", *map(_shown, requirements)]
    for flag, value in options.items():
        if value is True:
            words.append(flag)
            continue
        for text in _texts(value):
            words += [flag, _shown(text)]
    return shlex.join(words)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, (list, tuple)):
        yield from map(_text, value)
    elif value:
        yield _text(value)


def _text(value: object) -> str:
    return value.as_posix() if isinstance(value, Path) else str(value)


def _shown(text: str) -> str:
    from envsolve.settings import redact

    text = _LINE_BREAKS.sub(" ", text)
    if "://" in text:
        return redact(text).replace("****@", "")
    if PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute():
        return PureWindowsPath(text).name
    return text
