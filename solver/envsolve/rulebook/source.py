"""Source: the reviewed YAML of the rules, read and checked; every mistake is reported at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envsolve.record import record
from envsolve.rulebook.documents import read_document
from envsolve.rulebook.fields import Cell, Wrong
from envsolve.rulebook.schema import REQUIRED, Column, Document, Table
from envsolve.rulebook.schema_all import DOCUMENTS, TABLES
from envsolve.rulebook.yaml_file import Mistake, RulesError, SourceNames, load_yaml, source_names


@record
class Sources:
    """The checked rules and their sha256.

    Per table a tree of cells (keys, then the row as column -> cell); per document its content with sources spelt out.
    """

    digest: str
    tables: Mapping[str, Mapping[str, Any]]
    documents: Mapping[str, Any]


def read_rules(
    folder: Path, tables: tuple[Table, ...] = TABLES, documents: tuple[Document, ...] = DOCUMENTS
) -> Sources:
    """Read all tables and documents of a rules folder. Raises RulesError with every mistake."""
    mistakes: list[Mistake] = []
    trees: dict[str, Mapping[str, Any]] = {}
    for file in dict.fromkeys(table.file for table in tables):
        sections = tuple(table for table in tables if table.file == file)
        trees.update(_read_file(folder, file, sections, mistakes))
    contents = {document.name: read_document(folder, document, mistakes) for document in documents}
    if mistakes:
        raise RulesError(mistakes)
    return Sources(digest=digest(folder), tables=trees, documents=contents)


def digest(folder: Path) -> str:
    """The sha256 of all YAML sources below a folder; line ends do not matter."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*.yaml"), key=lambda path: path.relative_to(folder).as_posix()):
        total.update(path.relative_to(folder).as_posix().encode() + b"\0")
        total.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return total.hexdigest()


def _read_file(
    folder: Path, file: str, sections: tuple[Table, ...], mistakes: list[Mistake]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    content = load_yaml(folder / file, file, mistakes)
    if content is None:
        return
    known = {"sources", *(table.title for table in sections)}
    mistakes += [Mistake(file, f"unknown section {name!r}") for name in content if name not in known]
    sources = source_names(content.get("sources", {}), file, mistakes)
    for table in sections:
        reading = _Reading(table=table, sources=sources, mistakes=mistakes)
        if table.title not in content:
            mistakes.append(Mistake(file, f"no section {table.title!r}"))
        else:
            yield table.name, reading.tree(content[table.title], ())
    mistakes += [Mistake(f"{file}: sources/{name}", "no row uses it") for name in sources.unused()]


@record
class _Reading:
    """One table while it is read; mistakes are collected, never raised."""

    table: Table
    sources: SourceNames
    mistakes: list[Mistake]

    def tree(self, value: object, keys: tuple[str, ...]) -> dict[str, Any]:
        """The cells below some keys: nested as deep as the table has keys."""
        if len(keys) == len(self.table.keys):
            return self._row(value, keys)
        if not isinstance(value, dict):
            self._note(keys, "", f"expected a mapping by {self.table.keys[len(keys)].name}, got {value!r}")
            return {}
        cells: dict[str, Any] = {}
        for key, below in value.items():
            name = self._key(self.table.keys[len(keys)], key, keys)
            cells[name] = self.tree(below, (*keys, name))
        return cells

    def _key(self, column: Column, key: object, above: tuple[str, ...]) -> str:
        try:
            return str(column.read(key))
        except Wrong as wrong:
            self._note((*above, str(key)), "", f"{column.name}: {wrong.text}")
            return str(key)

    def _row(self, value: object, keys: tuple[str, ...]) -> dict[str, Cell]:
        if not isinstance(value, dict):
            self._note(keys, "", f"expected a row, got {value!r}")
            return {}
        names = {column.name for column in self.table.columns}
        for name in value:
            if name not in names:
                self._note(keys, f".{name}", "unknown field")
        return {column.name: self._cell(column, value, keys) for column in self.table.columns}

    def _cell(self, column: Column, row: Mapping[str, object], keys: tuple[str, ...]) -> Cell:
        if column.name not in row:
            if column.default is REQUIRED:
                self._note(keys, f".{column.name}", "missing")
            return column.default
        try:
            return (self.sources.read if column.name == "source" else column.read)(row[column.name])
        except Wrong as wrong:
            self._note(keys, f".{column.name}{wrong.at}", wrong.text)
            return column.default

    def _note(self, keys: tuple[str, ...], at: str, text: str) -> None:
        section = () if self.table.title == Path(self.table.file).stem else (self.table.title,)
        self.mistakes.append(Mistake(f"{self.table.file}: {'/'.join((*section, *keys))}{at}", text))
