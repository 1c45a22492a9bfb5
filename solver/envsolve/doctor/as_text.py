"""The finding in words: headline, evidence, what is fine, the way out, what is missing, how sure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envsolve.doctor.finding import Finding, Fix

_SURE = {"high": "sure", "medium": "fairly sure", "low": "not sure"}


def as_text(finding: Finding) -> str:
    """The whole text, without a final newline."""
    return "\n".join(_lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.code}: {finding.headline}"
    yield from _section("seen", finding.evidence)
    yield from _section("fine", finding.fine)
    yield from _section("way out", (line for fix in finding.fixes for line in _fix(fix)))
    yield from _section("tell me", (f"{m.field}: {m.how}" for m in finding.missing))
    yield f"certainty: {finding.certainty} ({_SURE[finding.certainty]})"


def _fix(fix: Fix) -> Iterator[str]:
    yield fix.text
    for command in fix.commands:
        yield from (f"  {line}" for line in command.split("\n"))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield f"{title}:"
        yield from (f"  {row}" for row in rows)
