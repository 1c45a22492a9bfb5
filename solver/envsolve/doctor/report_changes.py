"""Changes: what installers did, in order: pip, uv, poetry, conda and mamba. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envsolve.doctor.evidence import Change
from envsolve.regex import regex

_PIP_DONE = regex(r"^\s*Successfully installed\s+(.+)$")
_PIP_NAME = regex(r"^(.+?)-(\d[^\s]*)$")
_PIP_GONE = regex(r"^\s*(?:Successfully uninstalled|Uninstalling)\s+([\w.-]+?)-(\d\S*?):?\s*$")
_PIP_FOUND = regex(r"^\s*Found existing installation:\s+([\w.-]+)\s+(\d\S*)\s*$")
_UV = regex(r"^\s*([+~-])\s+([A-Za-z][\w.-]*)==(\d[^\s(]*)")
_POETRY = regex(
    r"^\s*[-•*]\s+(Installing|Updating|Downgrading|Removing|Upgrading|Install|Update|Downgrade|Remove)\s+([\w.-]+)\s+"
    r"\((\d[^\s)]*)(?:\s*->\s*(\d[^\s)]*))?"
)
# "  pytorch: 1.8.1-py3.8_cuda10.2_cudnn7.6.5_0 pytorch --> 1.9.0-py3.8_cpu_0 pytorch", and the form in columns.
_CONDA = regex(
    r"^\s*([\w.-]+?):?\s+(?:[\w.\-/]+::)?(?:\1-)?(\d[\w.+!]*)(?:[-\s]+(\S+?))?(?:\s+[\w./-]+)?\s+-->\s+"
    r"(?:[\w.\-/]+::)?(?:\1-)?(\d[\w.+!]*)(?:[-\s]+(\S+))?"
)
_CONDA_NEW = regex(r"^\s*([\w.-]+)\s+[\w.\-/]+::\1-(\d[\w.+!]*)-(\S+)")
_MAMBA = regex(r"^\s*([+-])\s+([\w.-]+)\s+(\d[\w.+!]*)\s+(\S+_\S+|\d+)\s+\S+")


def changes(text: str) -> tuple[Change, ...]:
    """Every change in the order of the text."""
    gone: dict[str, str] = {}
    found: list[Change] = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := _PIP_FOUND.match(line) or _PIP_GONE.match(line):
            gone[canonicalize_name(match[1])] = match[2]
        elif match := _PIP_DONE.match(line):
            found += _done(match[1], gone, number)
        else:
            found += _other(line, gone, number)
    return tuple(found)


def _done(words: str, gone: dict[str, str], number: int) -> Iterator[Change]:
    for word in words.split():
        match = _PIP_NAME.match(word.strip(",;"))
        if match:
            name = canonicalize_name(match[1])
            yield Change(name=name, before=gone.pop(name, ""), after=match[2], line=number)


def _other(line: str, gone: dict[str, str], number: int) -> Iterator[Change]:
    if match := _UV.match(line):
        sign, name, version = match[1], canonicalize_name(match[2]), match[3]
        if sign == "-":
            gone[name] = version
        else:
            yield Change(name=name, before=gone.pop(name, ""), after=version, line=number)
    elif match := _POETRY.match(line):
        yield _poetry(match, number)
    elif match := _MAMBA.match(line):
        yield from _mamba(match, gone, number)
    else:
        yield from _conda(line, number)


def _poetry(match: re.Match[str], number: int) -> Change:
    verb, name, first, second = match[1], canonicalize_name(match[2]), match[3], match[4]
    if second:
        return Change(name=name, before=first, after=second, line=number)
    removed = verb.startswith("Remov")
    return Change(name=name, before=first if removed else "", after="" if removed else first, line=number)


def _mamba(match: re.Match[str], gone: dict[str, str], number: int) -> Iterator[Change]:
    sign, name, version, build = match[1], canonicalize_name(match[2]), match[3], match[4]
    if sign == "-":
        gone[name] = f"{version} {build}"
        return
    before, _, build_before = gone.pop(name, "").partition(" ")
    yield Change(name=name, before=before, after=version, line=number, build_before=build_before, build_after=build)


def _conda(line: str, number: int) -> Iterator[Change]:
    if match := _CONDA.match(line):
        yield Change(
            name=canonicalize_name(match[1]),
            before=match[2],
            after=match[4],
            line=number,
            build_before=match[3] or "",
            build_after=match[5] or "",
        )
    elif match := _CONDA_NEW.match(line):
        yield Change(
            name=canonicalize_name(match[1]), before="", after=match[2], line=number, build_after=match[3].split(" ")[0]
        )
