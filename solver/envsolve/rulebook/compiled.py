"""Compiled: the rules as JSON, which parses many times faster than YAML. Derived, never edited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envsolve.errors import OutsideError

FORMAT = 1

# A tree is nested mappings by a table's keys; a leaf is the list of the row's core cells, its source as an index.
Tree = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The compiled tables, the texts of their sources, and the sha256 of the YAML that they were made from."""

    digest: str
    sources: tuple[str, ...]
    tables: Mapping[str, Tree]


def parse(text: str | bytes) -> Compiled:
    """Read a compiled file. Raises OutsideError where it is not one of this program's format."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError
        return Compiled(digest=content["sha256"], sources=tuple(content["sources"]), tables=content["tables"])
    except (ValueError, KeyError, TypeError):
        raise OutsideError(
            "the compiled rules are damaged or of another envsolve", hint="pip install --force-reinstall envsolve"
        ) from None


def render(compiled: Compiled) -> str:
    """The file's text: a line per table, so that a difference is found."""
    head = {"format": FORMAT, "sha256": compiled.digest}
    lines = [f"{json.dumps(name)}:{_dense(value)}" for name, value in head.items()]
    sources = ",\n".join(map(_dense, compiled.sources))
    tables = ",\n".join(f"{_dense(name)}:{_dense(tree)}" for name, tree in compiled.tables.items())
    lines += [f'"sources":[\n{sources}]', f'"tables":{{\n{tables}}}']
    return "{" + ",\n".join(lines) + "}\n"


def _dense(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
