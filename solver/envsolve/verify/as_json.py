"""A report as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from envsolve.verify.report import Report

SCHEMA = 1


def report_json(report: Report) -> dict[str, Any]:
    """The report of schema 1; seconds are rounded to milliseconds."""
    return {
        "schema": SCHEMA,
        "verified": report.verified,
        "passed": report.passed,
        "static": report.static,
        "environment": report.environment,
        "python": report.python,
        "torch": report.torch,
        "checks": [{**asdict(check), "seconds": round(check.seconds, 3)} for check in report.checks],
    }
