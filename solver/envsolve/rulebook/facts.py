"""Facts: rows of the rules as people read them, each with its place in the files, its source and its certainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.schema import Table
from envsolve.rulebook.schema_all import TABLES
from envsolve.rulebook.tables import Certainty

# Empty says something here: no PTX in the wheel.
_ALWAYS = ("sm", "ptx")


@record
class Fact:
    """One row: its table, its keys ("2.9.1", "cu128", "linux_x86_64"), its fields as text, in the rules' order."""

    table: str
    file: str
    section: str
    keys: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    certainty: Certainty
    source: str
    note: str

    @property
    def place(self) -> str:
        """Where it stands: "torch/builds.yaml: 2.9.1/cu128/linux_x86_64"."""
        return f"{self.file}: {'/'.join((self.section, *self.keys) if self.section else self.keys)}"


def facts(rulebook: Rulebook, details: Mapping[str, Any]) -> Iterator[Fact]:
    """Every row of every table; `details` is the compiled file of that name, for what the core lacks."""
    for table in TABLES:
        detail = details.get(table.name, {})
        tree = rulebook.compiled.tables[table.name] if table.core else detail
        for keys, leaf in _leaves(tree, len(table.keys)):
            yield _fact(table, keys, leaf, detail, rulebook)


def _leaves(tree: Mapping[str, Any], depth: int, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, below in tree.items():
        keys = (*above, key)
        if depth == 1:
            yield keys, below
        else:
            yield from _leaves(below, depth - 1, keys)


def _fact(table: Table, keys: tuple[str, ...], leaf: Any, detail: Mapping[str, Any], rulebook: Rulebook) -> Fact:
    row = _core_row(table, leaf, rulebook) if table.core else dict(leaf)
    if table.core:
        for key in keys:
            detail = detail.get(key, {})
        row.update(detail)
    certainty, source, note = row.pop("certainty"), row.pop("source"), row.pop("note", "")
    defaults = {column.name: column.default for column in table.columns}
    told = tuple((name, _text(name, cell)) for name, cell in row.items() if name in _ALWAYS or cell != defaults[name])
    return Fact(
        table=table.name,
        file=table.file,
        section="" if table.title == PurePosixPath(table.file).stem else table.title,
        keys=keys,
        fields=told,
        certainty=certainty,
        source=source,
        note=note,
    )


def _core_row(table: Table, leaf: list[Any], rulebook: Rulebook) -> dict[str, Any]:
    row = {column.name: cell for column, cell in zip(table.core_columns, leaf, strict=True)}
    row["source"] = rulebook.compiled.sources[row["source"]]
    return row


def _text(name: str, cell: Any) -> str:
    if name == "python" and cell.count(" ") == 1:
        return str(cell).replace(" ", "-")
    if cell is None:
        return "none"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, dict):
        return ", ".join(f"{key}: {value}" for key, value in cell.items())
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    return str(cell)
