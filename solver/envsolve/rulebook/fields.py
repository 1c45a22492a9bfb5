"""Fields: how one value of a rule is read and checked. A reader takes what YAML gave and returns a cell for JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.regex import regex

Cell = Any  # what JSON can hold: str, int, bool, None, or a flat mapping of those
Reader = Callable[[object], Cell]

_MINOR = regex(r"\d\.\d{1,2}", re.ASCII)


class Wrong(ValueError):
    """A bad value: what is wrong with it and, inside a list or mapping, where ("[3]")."""

    def __init__(self, text: str, at: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.at = at


def text(value: object) -> str:
    """A non-empty string."""
    if not isinstance(value, str) or not value.strip():
        raise Wrong(f"expected a text, got {value!r}")
    return value


def whole(value: object) -> int:
    """A whole number, zero or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Wrong(f"expected a whole number, got {value!r}")
    return value


def flag(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise Wrong(f"expected true or false, got {value!r}")
    return value


def version(value: object) -> str:
    """A version by PEP 440, in its normal form."""
    try:
        parsed = Version(text(value))
    except InvalidVersion:
        raise Wrong(f"not a version: {value!r}") from None
    if str(parsed) != value:
        raise Wrong(f"write {parsed} for {value!r}")
    return str(parsed)


def versions(value: object) -> str:
    """A list of versions -> "0.29.2 0.29.1"."""
    return " ".join(_each(value, version))


def specifier(value: object) -> str:
    """A version specifier: ">=2.12"."""
    try:
        return str(SpecifierSet(text(value))) and text(value)
    except InvalidSpecifier:
        raise Wrong(f"not a version specifier: {value!r}") from None


def dotted(value: object) -> str:
    """Dotted integers: a driver, CUDA or glibc version."""
    try:
        return Dotted.parse(text(value)).text
    except Wrong:
        raise
    except ValueError as error:
        raise Wrong(str(error)) from None


def capability(value: object) -> str:
    """A compute capability: "8.9"."""
    try:
        return str(Capability.parse(text(value)))
    except Wrong:
        raise
    except ValueError as error:
        raise Wrong(str(error)) from None


def capabilities(value: object) -> str:
    """One compute capability or a list of them -> "3.5 2.1"."""
    return " ".join(_each(value if isinstance(value, list) else [value], capability))


def targets(value: object) -> str:
    """A list of code targets, ascending: [75, 80, 90a] -> "75 80 90a"."""
    cells = _each(value, _target)
    if list(dict.fromkeys(sorted(cells, key=_target_order))) != cells:
        raise Wrong("not in ascending order, or twice the same")
    return " ".join(cells)


def _target(value: object) -> str:
    cell = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else repr(value)
    try:
        Target.parse(f"sm_{cell}")
    except ValueError:
        raise Wrong(f"not a capability times ten such as 86, 120 or 90a: {value!r}") from None
    return cell


def _target_order(cell: str) -> tuple[int, str]:
    digits = cell.rstrip("af")
    return int(digits), cell[len(digits) :]


def span(value: object) -> str:
    """A range of Python minors, first to last: "3.9-3.13", or a single "3.8" -> "3.8 3.8"."""
    first, dash, last = text(value).partition("-")
    ends = [_minor(first), _minor(last if dash else first)]
    if _numbers(ends[0]) > _numbers(ends[1]):
        raise Wrong(f"the range runs backwards: {value!r}")
    return " ".join(ends)


def minors(value: object) -> str:
    """Python minors as a list or as ranges: "3.8-3.10, 3.12" -> "3.8 3.9 3.10 3.12"."""
    parts = _each(value, text) if isinstance(value, list) else text(value).split(",")
    found: list[str] = []
    for part in parts:
        first, last = (_numbers(end) for end in span(part.strip()).split())
        if first[0] != last[0]:
            raise Wrong(f"a range within one major, please: {part.strip()!r}")
        found += [f"{first[0]}.{minor}" for minor in range(first[1], last[1] + 1)]
    return " ".join(found)


def _minor(value: str) -> str:
    if not _MINOR.fullmatch(value.strip()):
        raise Wrong(f"not a Python minor such as 3.12: {value.strip()!r}")
    return value.strip()


def _numbers(minor: str) -> tuple[int, int]:
    major, _, rest = minor.partition(".")
    return int(major), int(rest)


def choice(*allowed: str) -> Reader:
    """One of a few words."""

    def read(value: object) -> str:
        if value not in allowed:
            raise Wrong(f"expected one of {', '.join(allowed)}, got {value!r}")
        return str(value)

    return read


def matching(pattern: str, meaning: str) -> Reader:
    """A text of a form."""
    form = re.compile(pattern, re.ASCII)

    def read(value: object) -> str:
        if not form.fullmatch(text(value)):
            raise Wrong(f"not {meaning}: {value!r}")
        return text(value)

    return read


month = matching(r"\d{4}-(0[1-9]|1[0-2])", "a month such as 2028-06")


def optional(reader: Reader) -> Reader:
    """null, or what the reader reads."""

    def read(value: object) -> Cell:
        return None if value is None else reader(value)

    return read


def mapping(key: Reader, item: Reader) -> Reader:
    """A flat mapping, such as capability -> driver branch."""

    def read(value: object) -> dict[str, Cell]:
        if not isinstance(value, dict) or not value:
            raise Wrong(f"expected a mapping, got {value!r}")
        cells: dict[str, Cell] = {}
        for name, entry in value.items():
            try:
                cells[str(key(name))] = item(entry)
            except Wrong as wrong:
                raise Wrong(wrong.text, f".{name}{wrong.at}") from None
        return cells

    return read


def each(reader: Reader) -> Reader:
    """A list, each entry by the reader, as texts in one: "gfx900 gfx906"."""

    def read(value: object) -> str:
        return " ".join(map(str, _each(value, reader)))

    return read


def texts(value: object) -> list[str]:
    """A list of texts."""
    return _each(value, text)


def _each(value: object, reader: Reader) -> list[Any]:
    if not isinstance(value, list):
        raise Wrong(f"expected a list, got {value!r}")
    cells = []
    for position, item in enumerate(value):
        try:
            cells.append(reader(item))
        except Wrong as wrong:
            raise Wrong(wrong.text, f"[{position}]{wrong.at}") from None
    return cells
