"""TOML text of the shapes that a lock has: scalars, tables, arrays of tables. The standard library only reads TOML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envsolve.regex import regex


class Inline(dict[str, Any]):
    """A table that is written on one line, as a value."""


class Blocks(list[Mapping[str, Any]]):
    """An array of tables that is written with a [[header]] each, wherever it stands."""


_BARE = regex(r"[A-Za-z0-9_-]+")


def toml_text(document: Mapping[str, Any]) -> str:
    """The document in the order of its keys, scalars before tables as TOML asks for."""
    return "\n".join(_table(document, "")).strip("\n") + "\n"


def _table(table: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in table.items():
        if not _is_table(value) and not _is_tables(value, path):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        inner = f"{path}.{_key(key)}" if path else _key(key)
        if _is_table(value):
            yield from _headed(value, inner)
        elif _is_tables(value, path):
            for item in value:
                yield from ("", f"[[{inner}]]", *_table(item, inner))


def _headed(table: Mapping[str, Any], path: str) -> Iterator[str]:
    """A table under its header; the header is left out where only tables follow, whose own headers imply it."""
    if not table or not all(_is_table(value) or isinstance(value, Blocks) for value in table.values()):
        yield from ("", f"[{path}]")
    yield from _table(table, path)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and not isinstance(value, Inline)


def _is_tables(value: Any, path: str) -> bool:
    """Arrays of tables at the top and Blocks; deeper ones are written inline, one entry a line."""
    if isinstance(value, Blocks):
        return bool(value)
    return not path and isinstance(value, Sequence) and bool(value) and all(map(_is_table, value))


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, Sequence):
        return _array([_value(item) for item in value])
    raise TypeError(f"no TOML for {type(value).__name__}")


def _array(items: Sequence[str]) -> str:
    if sum(map(len, items)) < 80:
        return "[" + ", ".join(items) + "]"
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _string(text: str) -> str:
    # A JSON string is a TOML string but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)
