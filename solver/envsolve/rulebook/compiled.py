"""Compiled: the rules as JSON, which parses many times faster than YAML. Derived, never edited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from envsolve.errors import OutsideError
from envsolve.record import record

FORMAT = 1

# A tree is nested mappings by a table's keys; a leaf is the list of the row's core cells, its source as an index.
Tree = Mapping[str, Any]


@record
class Compiled:
    """The compiled tables, the texts of their sources, and the sha256 of the YAML that they were made from."""

    digest: str
    sources: tuple[str, ...]
    tables: Mapping[str, Tree]


def parse(text: str | bytes) -> Compiled:
    """Read a compiled file. Raises OutsideError where it is not one of this program's format."""
    content = _content(text)
    try:
        return Compiled(digest=content["sha256"], sources=tuple(content["sources"]), tables=content["tables"])
    except (KeyError, TypeError):
        raise _damaged() from None


def render(compiled: Compiled) -> str:
    """The file's text: a line per table, so that a difference is found."""
    head = {"format": FORMAT, "sha256": compiled.digest}
    lines = [f"{json.dumps(name)}:{_dense(value)}" for name, value in head.items()]
    sources = ",\n".join(map(_dense, compiled.sources))
    tables = ",\n".join(f"{_dense(name)}:{_dense(tree)}" for name, tree in compiled.tables.items())
    lines += [f'"sources":[\n{sources}]', f'"tables":{{\n{tables}}}']
    return "{" + ",\n".join(lines) + "}\n"


def render_document(digest: str, content: Mapping[str, Any]) -> str:
    """The text of a compiled file without core tables: a line per section."""
    sections = ",\n".join(f"{_dense(name)}:{_dense(value)}" for name, value in content.items())
    return f'{{"format":{FORMAT},\n"sha256":"{digest}",\n"content":{{\n{sections}}}}}\n'


def parse_document(text: str | bytes) -> Mapping[str, Any]:
    """The content of such a file. Raises OutsideError like `parse`."""
    content = _content(text)
    return {} if not isinstance(content.get("content"), dict) else content["content"]


def _content(text: str | bytes) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        raise _damaged() from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _damaged()
    return content


def _damaged() -> OutsideError:
    return OutsideError(
        "the compiled rules are damaged or of another envsolve", hint="pip install --force-reinstall envsolve"
    )


def _dense(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
