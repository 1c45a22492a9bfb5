"""Overlay: rows that `envsolve rules update` found on an index, laid over the compiled rules. The rules win wherever
they say something themselves; of a build that they know only its Pythons are extended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from envsolve.errors import InputError
from envsolve.record import replace
from envsolve.rulebook.compiled import Compiled, Tree

FORMAT = 1
# The tables that an overlay may add to, and the fields that it may widen in a row that the rules have.
TABLES = ("releases", "builds", "other_builds", "companions", "companion_builds")
_WIDENED = ("python", "freethreaded")
_SPANS = ("builds", "other_builds")  # where `python` holds the first and the last minor, and not each of them


def parse_overlay(text: bytes, where: str) -> Mapping[str, Any]:
    """The content of an overlay: a tree of rows (column -> cell) for each table. Raises InputError."""
    try:
        content = json.loads(text)
        if content["format"] == FORMAT and set(content["tables"]) <= set(TABLES):
            found: Mapping[str, Any] = content
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(
        f"{where} is no overlay of the rules", hint="envsolve rules update writes it anew; --forget drops it"
    )


def laid_over(compiled: Compiled, overlay: Mapping[str, Any]) -> Compiled:
    """The rules with an overlay's rows added."""
    from envsolve.rulebook.schema_all import TABLES as SCHEMAS  # only where there is an overlay

    sources = list(compiled.sources)
    tables = dict(compiled.tables)
    for schema in SCHEMAS:
        if schema.name in overlay["tables"]:
            columns = tuple((c.name, c.default) for c in schema.core_columns)
            joined = _Joined(columns, sources, spans=schema.name in _SPANS)
            tables[schema.name] = joined.tree(tables[schema.name], overlay["tables"][schema.name], len(schema.keys))
    told = hashlib.sha256(compiled.digest.encode() + json.dumps(overlay, sort_keys=True).encode()).hexdigest()
    return replace(compiled, digest=told, sources=tuple(sources), tables=tables)


class _Joined:
    """Joins trees of one table; the sources of new rows are added to the list."""

    def __init__(self, columns: tuple[tuple[str, Any], ...], sources: list[str], *, spans: bool) -> None:
        self._columns = columns
        self._sources = sources
        self._spans = spans

    def tree(self, known: Tree, added: Mapping[str, Any], depth: int) -> dict[str, Any]:
        joined = dict(known)
        for key, below in added.items():
            if depth > 1:
                joined[key] = self.tree(known.get(key, {}), below, depth - 1)
            else:
                joined[key] = self._widened(known[key], below) if key in known else self._row(below)
        return joined

    def _row(self, cells: Mapping[str, Any]) -> list[Any]:
        row = [cells.get(name, default) for name, default in self._columns]
        self._sources.append(str(cells["source"]))
        place = len(self._sources) - 1
        return [place if name == "source" else cell for (name, _), cell in zip(self._columns, row, strict=True)]

    def _widened(self, row: list[Any], cells: Mapping[str, Any]) -> list[Any]:
        return [
            self._wider(name, cell, cells[name]) if name in _WIDENED and cells.get(name) else cell
            for (name, _), cell in zip(self._columns, row, strict=True)
        ]

    def _wider(self, name: str, known: str, added: str) -> str:
        minors = sorted({*known.split(), *added.split()}, key=lambda minor: tuple(map(int, minor.split("."))))
        return f"{minors[0]} {minors[-1]}" if self._spans and name == "python" else " ".join(minors)
