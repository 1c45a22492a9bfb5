"""The reports of tests/unit/doctor/reports: invented texts in the form of real tools, with the answers that are right.

=== id | accepted codes, the best first | what must not be said | what must be said; both separated by semicolons
the text
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One text and the right answer."""

    id: str
    codes: tuple[str, ...]
    must_not_say: tuple[str, ...]
    must_say: tuple[str, ...]
    text: str


def reports() -> tuple[Report, ...]:
    """All reports, in the order of the files."""
    files = sorted(FOLDER.glob("*.txt"))
    parts = (part for file in files for part in re.split(r"(?m)^=== ", file.read_text(encoding="utf-8"))[1:])
    return tuple(map(_report, parts))


def _report(part: str) -> Report:
    head, _, text = part.partition("\n")
    name, codes, *rest = (field.strip() for field in head.split("|"))
    never, always = (*rest, "", "")[:2]
    return Report(
        id=name,
        codes=tuple(codes.split()),
        must_not_say=_words(never),
        must_say=_words(always),
        text=text,
    )


def _words(field: str) -> tuple[str, ...]:
    return tuple(word.strip().lower() for word in field.split(";") if word.strip())
