"""The pages of docs/ as tests read them: commands with what stands around them, and files that they use.

A block ```console holds commands after "$ " and lines of their output. A comment before it says how it ends or what it
needs: <!-- exit 1 -->, <!-- network -->, <!-- gpu -->. <!-- file: NAME --> before a block makes it a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*?) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command line, the output lines shown below it, and the exit code that the page tells."""

    line: str
    shown: tuple[str, ...]
    code: int
    needs: str  # "network", "gpu" or ""


@dataclass(frozen=True)
class Page:
    name: str
    files: dict[str, str]
    commands: tuple[Command, ...]


def pages() -> list[Page]:
    return [_page(path) for path in sorted(DOCS.rglob("*.md"))]


def _page(path: Path) -> Page:
    files: dict[str, str] = {}
    commands: list[Command] = []
    for block in _BLOCK.finditer(path.read_text(encoding="utf-8")):
        mark = block["mark"] or ""
        if mark.startswith("file: "):
            files[mark.removeprefix("file: ")] = block["body"]
        if block["kind"] == "console":
            commands += _commands(block["body"], mark)
    return Page(name=path.relative_to(DOCS).as_posix(), files=files, commands=tuple(commands))


def _commands(body: str, mark: str) -> list[Command]:
    found: list[Command] = []
    code = int(mark.removeprefix("exit ")) if mark.startswith("exit ") else 0
    needs = mark if mark in ("network", "gpu") else ""
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append(Command(line=line[2:], shown=(), code=code, needs=needs))
        elif line.strip():
            last = found.pop()
            found.append(Command(line=last.line, shown=(*last.shown, line), code=code, needs=needs))
    return found
