"""A report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.verify.report import Check, Report

_MARK = {"passed": "ok", "failed": "FAILED", "skipped": "-"}


def report_lines(report: Report) -> list[str]:
    """The report for people: one line a check; a failed one with what was expected and what to do."""
    width = max((len(check.name) for check in report.checks), default=0)
    lines = [f"{report.environment}: Python {report.python or '?'}, torch {report.torch or '?'}"]
    for check in report.checks:
        lines += _check_lines(check, width)
    return [*lines, verdict(report)]


def _check_lines(check: Check, width: int) -> Iterator[str]:
    yield f"  {_MARK[check.outcome]:<6}  {check.name:<{width}}  {check.seen}"
    if check.outcome == "failed":
        indent = " " * (width + 12)
        yield f"{indent}expected: {check.expected}"
        if check.hint:
            yield f"{indent}hint: {check.hint}"


def verdict(report: Report) -> str:
    """The last line: verified or not, and how many checks say so."""
    failed = sum(c.outcome == "failed" for c in report.checks)
    passed = sum(c.outcome == "passed" for c in report.checks)
    skipped = sum(c.outcome == "skipped" for c in report.checks)
    counts = f"{passed} passed, {failed} failed, {skipped} skipped"
    if report.verified:
        return f"verified: {counts}"
    if report.passed:
        return f"static checks passed, no GPU was tried: {counts}"
    return f"not verified: {counts}" + ("" if failed else "; nothing was computed")
