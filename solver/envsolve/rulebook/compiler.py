"""Compiler: checked sources -> compiled tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envsolve.record import replace
from envsolve.rulebook.compiled import Compiled, render, render_document
from envsolve.rulebook.name_keys import name_index
from envsolve.rulebook.schema import Table
from envsolve.rulebook.schema_all import TABLES
from envsolve.rulebook.schema_cuda import GPU_NAMES
from envsolve.rulebook.schema_doctor import DOCTOR_TABLES
from envsolve.rulebook.schema_ways import WAYS_TABLES
from envsolve.rulebook.source import Sources


def compile_all(sources: Sources) -> dict[str, str]:
    """Every compiled file by name, as its text."""
    documents = dict(sources.documents)
    pypi_wheels = documents.pop("pypi_wheels", {})
    return {
        "core.json": render(compile_core(sources)),
        "doctor.json": render(compile_tables(sources, DOCTOR_TABLES)),
        "ways_tables.json": render(compile_tables(sources, WAYS_TABLES)),
        "details.json": render_document(sources.digest, details(sources)),
        "ways.json": render_document(sources.digest, documents),
        "pypi_wheels.json": render_document(sources.digest, pypi_wheels),
    }


def compile_core(sources: Sources) -> Compiled:
    """What `plan` needs: the core tables, rows as lists, every source's text once."""
    compiled = compile_tables(sources, tuple(table for table in TABLES if table.core))
    index = name_index(compiled.tables[GPU_NAMES.name])
    return replace(compiled, tables={**compiled.tables, "name_index": index})


def compile_tables(sources: Sources, tables: tuple[Table, ...]) -> Compiled:
    """Some tables, rows as lists, every source's text once."""
    texts: dict[str, int] = {}
    trees = {table.name: _branch(sources.tables[table.name], table, len(table.keys), texts) for table in tables}
    return Compiled(digest=sources.digest, sources=tuple(texts), tables=trees)


def _branch(tree: Mapping[str, Any], table: Table, depth: int, texts: dict[str, int]) -> Any:
    if depth == 0:
        return [_cell(column.name, tree[column.name], texts) for column in table.core_columns]
    return {key: _branch(below, table, depth - 1, texts) for key, below in tree.items()}


def _cell(name: str, cell: Any, texts: dict[str, int]) -> Any:
    return texts.setdefault(cell, len(texts)) if name == "source" else cell


def details(sources: Sources) -> dict[str, Any]:
    """What only `rules show` wants: whole tables outside the core, and the fields of the others that the core lacks."""
    trees: dict[str, Any] = {}
    for table in TABLES:
        wanted = tuple(column.name for column in table.columns if not (table.core and column.core))
        if wanted:
            trees[table.name] = _detail(sources.tables[table.name], wanted, len(table.keys))
    return trees


def _detail(tree: Mapping[str, Any], wanted: tuple[str, ...], depth: int) -> Any:
    if depth == 0:
        return {name: tree[name] for name in wanted if tree[name] is not None}
    return {key: _detail(below, wanted, depth - 1) for key, below in tree.items()}
