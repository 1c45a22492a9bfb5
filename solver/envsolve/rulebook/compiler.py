"""Compiler: checked sources -> compiled tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envsolve.rulebook.compiled import Compiled
from envsolve.rulebook.name_keys import name_index
from envsolve.rulebook.schema import GPU_NAMES, TABLES, Table
from envsolve.rulebook.source import Sources


def compile_core(sources: Sources) -> Compiled:
    """What `plan` needs: the core tables, rows as lists, every source's text once."""
    texts: dict[str, int] = {}
    trees = {
        table.name: _branch(sources.tables[table.name], table, len(table.keys), texts) for table in TABLES if table.core
    }
    trees["name_index"] = name_index(trees[GPU_NAMES.name])
    return Compiled(digest=sources.digest, sources=tuple(texts), tables=trees)


def _branch(tree: Mapping[str, Any], table: Table, depth: int, texts: dict[str, int]) -> Any:
    if depth == 0:
        return [_cell(column.name, tree[column.name], texts) for column in table.core_columns]
    return {key: _branch(below, table, depth - 1, texts) for key, below in tree.items()}


def _cell(name: str, cell: Any, texts: dict[str, int]) -> Any:
    return texts.setdefault(cell, len(texts)) if name == "source" else cell
