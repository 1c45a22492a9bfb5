"""Source: the reviewed YAML read and checked, every mistake at once. YAML is imported here and nowhere else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from envsolve.errors import InputError
from envsolve.rulebook import fields
from envsolve.rulebook.fields import Cell, Wrong
from envsolve.rulebook.schema import REQUIRED, TABLES, Column, Table

# A source that looks like this is the name of an entry of the file's `sources`; any other text speaks for itself.
_SOURCE_NAME = re.compile(r"[a-z0-9._-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in the rules: the path of the bad field and what is wrong there."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class RulesError(InputError):
    """The rules have mistakes; `mistakes` holds all of them."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        lines = "\n".join(f"  {mistake}" for mistake in self.mistakes)
        count = f"{len(self.mistakes)} mistake{'s' if len(self.mistakes) != 1 else ''}"
        super().__init__(f"{count} in the rules\n{lines}", hint="correct the files below rules/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The checked rules: per table a tree of cells (keys, then the row as column -> cell), and the sources' sha256."""

    digest: str
    tables: Mapping[str, Mapping[str, Any]]


def read_rules(folder: Path, tables: tuple[Table, ...] = TABLES) -> Sources:
    """Read all tables of a rules folder. Raises RulesError with every mistake."""
    mistakes: list[Mistake] = []
    trees: dict[str, Mapping[str, Any]] = {}
    for file in dict.fromkeys(table.file for table in tables):
        sections = tuple(table for table in tables if table.file == file)
        trees.update(_read_file(folder, file, sections, mistakes))
    if mistakes:
        raise RulesError(mistakes)
    return Sources(digest=digest(folder), tables=trees)


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
    content = _load(folder / file, file, mistakes)
    if content is None:
        return
    known = {"sources", *(table.name for table in sections)}
    mistakes += [Mistake(file, f"unknown section {name!r}") for name in content if name not in known]
    sources = _source_names(content.get("sources", {}), file, mistakes)
    for table in sections:
        reading = _Reading(table=table, sources=sources, mistakes=mistakes)
        if table.name not in content:
            mistakes.append(Mistake(file, f"no section {table.name!r}"))
        else:
            yield table.name, reading.tree(content[table.name], ())
    mistakes += [Mistake(f"{file}: sources/{name}", "no row uses it") for name in sources.unused()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNames:
    texts: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def read(self, value: object) -> str:
        """The text of one source or of several, names replaced by what they stand for."""
        parts = fields.texts(value) if isinstance(value, list) else [fields.text(value)]
        return "; ".join(self._one(part) for part in parts)

    def _one(self, part: str) -> str:
        self.used.add(part)
        if part in self.texts:
            return self.texts[part]
        if _SOURCE_NAME.fullmatch(part):
            raise Wrong(f"no source is named {part!r} in this file")
        return part

    def unused(self) -> list[str]:
        return [name for name in self.texts if name not in self.used]


def _source_names(value: object, file: str, mistakes: list[Mistake]) -> _SourceNames:
    if not isinstance(value, dict):
        mistakes.append(Mistake(f"{file}: sources", "expected a mapping of names and texts"))
        return _SourceNames(texts={})
    for name, text in value.items():
        if not isinstance(text, str) or not _SOURCE_NAME.fullmatch(str(name)):
            mistakes.append(Mistake(f"{file}: sources/{name}", "expected a name of a-z, 0-9, ., _ and -, and a text"))
    return _SourceNames(texts={str(name): str(text) for name, text in value.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One table while it is read; mistakes are collected, never raised."""

    table: Table
    sources: _SourceNames
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
        section = () if self.table.name == Path(self.table.file).stem else (self.table.name,)
        self.mistakes.append(Mistake(f"{self.table.file}: {'/'.join((*section, *keys))}{at}", text))


def _load(path: Path, file: str, mistakes: list[Mistake]) -> dict[str, object] | None:
    try:
        with path.open(encoding="utf-8") as stream:
            loader = _Loader(stream)
            try:
                content = loader.get_single_data()
            finally:
                loader.dispose()
    except OSError as error:
        mistakes.append(Mistake(file, f"cannot be read: {error.strerror}"))
        return None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mistakes.append(Mistake(file, f"not YAML: {error}"))
        return None
    mistakes += [Mistake(f"{file}: line {line}", f"{key!r} is there twice") for key, line in loader.doubles]
    if not isinstance(content, dict):
        mistakes.append(Mistake(file, "expected a mapping of sections"))
        return None
    return content


class _Loader(yaml.SafeLoader):
    """YAML without its traps: 3.10 and 2026-11-30 stay text, `no` is a word, and a key given twice is noticed."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.doubles: list[tuple[object, int]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str | int) and key in seen:
                self.doubles.append((key, key_node.start_mark.line + 1))
            seen.add(str(key) if isinstance(key, list | dict) else key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {}
for _tag, _form, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null", "n"),
    ("int", r"0|[1-9][0-9]*", "0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), list(_first))
