"""Merged: a text that version control has left with both sides of a conflict in it."""

from __future__ import annotations

import re

from envsolve.errors import InputError
from envsolve.regex import regex

_OURS = regex(r"^<{7} ?", re.MULTILINE)
_THEIRS = regex(r"^>{7} ?", re.MULTILINE)


def check_merged(text: str, filename: str) -> None:
    """Raises InputError, with the line, where a merge conflict is not resolved."""
    found = _OURS.search(text)
    if found and _THEIRS.search(text, found.end()):
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(
            f"{filename}:{line}: a merge conflict is not resolved",
            hint="take one side, then let the tool that wrote it make it anew (envsolve lock; uv lock; poetry lock)",
        )
