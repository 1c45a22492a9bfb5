"""Dotted: a driver, CUDA, toolkit or glibc version, compared as integers and never as text."""

from __future__ import annotations

import re

from envsolve.record import record
from envsolve.regex import regex

_FORM = regex(r"\d+(\.\d+)*", re.ASCII)


@record
class Dotted:
    """Dotted integers such as 580.65.06 or 12.8; the text keeps leading zeros, the comparison ignores them.

    Trailing zeros do not count: 12 == 12.0. Raises ValueError for anything else than dotted integers.
    """

    text: str
    parts: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Dotted:
        """Read "580.65.06"; blanks around it are dropped."""
        text = text.strip()
        if not _FORM.fullmatch(text):
            raise ValueError(f"not a dotted version: {text!r}")
        parts = [int(p) for p in text.split(".")]
        while len(parts) > 1 and parts[-1] == 0:
            parts.pop()
        return cls(text=text, parts=tuple(parts))

    @property
    def major(self) -> int:
        """The first number: the driver branch (580) or the CUDA major (12)."""
        return self.parts[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dotted) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __lt__(self, other: Dotted) -> bool:
        return self.parts < other.parts

    def __le__(self, other: Dotted) -> bool:
        return self.parts <= other.parts

    def __gt__(self, other: Dotted) -> bool:
        return self.parts > other.parts

    def __ge__(self, other: Dotted) -> bool:
        return self.parts >= other.parts

    def __str__(self) -> str:
        return self.text
