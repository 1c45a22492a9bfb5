"""Whether the rules may know a library with CUDA code by one of some names, told without reading their tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from envsolve.rulebook.load import rules_dir

FILE = "ways_tables.json"


def may_be_known(names: Iterable[str], folder: Path | None = None) -> bool:
    """False only if none of these canonical names is in the tables: most requests need not load them.

    Where the file can't be read it is True: who reads the tables then says so.
    """
    try:
        text = ((folder or rules_dir()) / "compiled" / FILE).read_bytes().lower()
    except OSError:
        return True
    text = text.replace(b"_", b"-").replace(b".", b"-")
    return any(f'"{name}"'.encode() in text for name in names)
