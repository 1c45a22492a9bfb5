"""Fold: alike refusals told once, as ranges of torch versions, so that they fit one screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.version import Version

from envsolve.resolve.plan import Refused

MOST_VARIANTS = 6  # named one by one up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Variants refused for one reason over a range of torch versions; the text is the newest one's."""

    variants: tuple[str, ...]
    first: Version
    last: Version
    code: str
    text: str

    def __str__(self) -> str:
        torch = str(self.last) if self.first == self.last else f"{self.first} to {self.last}"
        many = len(self.variants) > MOST_VARIANTS
        variants = f"{len(self.variants)} variants" if many else " ".join(self.variants)
        return f"{variants} {torch}: {self.text}"


def fold(refused: Iterable[Refused]) -> tuple[Folded, ...]:
    """Group by variant and decisive code, then merge the variants that tell the same; newest torch first, as given."""
    by_variant: dict[tuple[str, str], list[Refused]] = {}
    for row in refused:
        by_variant.setdefault((row.variant, row.refusals[0].code), []).append(row)
    by_text: dict[str, list[list[Refused]]] = {}
    for rows in by_variant.values():
        by_text.setdefault(_newest(rows).refusals[0].text, []).append(rows)
    return tuple(_folded(groups) for groups in by_text.values())


def _newest(rows: Sequence[Refused]) -> Refused:
    return max(rows, key=lambda r: r.torch)


def _folded(groups: Sequence[Sequence[Refused]]) -> Folded:
    rows = [row for group in groups for row in group]
    reason = _newest(groups[0]).refusals[0]
    return Folded(
        variants=tuple(group[0].variant for group in groups),
        first=min(r.torch for r in rows),
        last=max(r.torch for r in rows),
        code=reason.code,
        text=reason.text,
    )
