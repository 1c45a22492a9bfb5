"""Fold: alike refusals told once, as ranges of torch versions, so that they fit one screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.version import Version

from envsolve.record import record
from envsolve.regex import regex
from envsolve.resolve.plan import ANY, Refused

MOST_VARIANTS = 6  # named one by one up to here
# What differs between refusals that tell the same: the wheel's CUDA, which its variant says, and its list of code.
_CUDA = regex(r"^CUDA [\d.]+ ", re.ASCII)
_LIST = regex(r" \(has [^)]*\)", re.ASCII)


@record
class Folded:
    """Variants refused for one reason over a range of torch versions; the numbers are the newest one's."""

    variants: tuple[str, ...]
    first: Version
    last: Version
    code: str
    text: str

    def __str__(self) -> str:
        torch = str(self.last) if self.first == self.last else f"{self.first} to {self.last}"
        many = len(self.variants) > MOST_VARIANTS
        variants = f"{len(self.variants)} variants" if many else " ".join(self.variants)
        return f"{variants.replace(ANY, 'torch')} {torch}: {self.text}"


def fold(refused: Iterable[Refused]) -> tuple[Folded, ...]:
    """Merge the rows whose decisive refusal tells the same; the order is that in which they are first given."""
    alike: dict[tuple[str, str], list[Refused]] = {}
    for row in refused:
        reason = row.refusals[0]
        alike.setdefault((reason.code, _LIST.sub("", _CUDA.sub("", reason.text))), []).append(row)
    return tuple(_folded(rows) for rows in alike.values())


def _folded(rows: Sequence[Refused]) -> Folded:
    return Folded(
        variants=tuple(dict.fromkeys(row.variant for row in rows)),
        first=min(row.torch for row in rows),
        last=max(row.torch for row in rows),
        code=rows[0].refusals[0].code,
        text=_told(rows),
    )


def _told(rows: Sequence[Refused]) -> str:
    """The newest row's text; where the others' lists differ, it says whose list it is."""
    newest = max(rows, key=lambda row: row.torch).refusals[0].text
    if len({row.refusals[0].text for row in rows}) == 1:
        return newest
    return _CUDA.sub("", newest).replace(" (has ", " (newest has ")
