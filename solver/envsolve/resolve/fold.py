"""Fold: alike refusals told once, as ranges of torch versions, so that they fit one screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.version import Version

from envsolve.resolve.plan import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """One variant refused for one reason over a range of torch versions; the text is the newest one's."""

    variant: str
    first: Version
    last: Version
    code: str
    text: str

    def __str__(self) -> str:
        torch = str(self.last) if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.variant} {torch}: {self.text}"


def fold(refused: Iterable[Refused]) -> tuple[Folded, ...]:
    """Group by variant and decisive code, in the order given (newest torch first)."""
    groups: dict[tuple[str, str], list[Refused]] = {}
    for row in refused:
        groups.setdefault((row.variant, row.refusals[0].code), []).append(row)
    return tuple(_folded(rows) for rows in groups.values())


def _folded(rows: Sequence[Refused]) -> Folded:
    newest = max(rows, key=lambda r: r.torch)
    reason = newest.refusals[0]
    return Folded(
        variant=newest.variant,
        first=min(r.torch for r in rows),
        last=newest.torch,
        code=reason.code,
        text=reason.text,
    )
