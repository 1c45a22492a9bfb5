"""A report as the proof that an environment keeps."""

from __future__ import annotations

from envsolve.environment.proof import Proof
from envsolve.verify.as_json import report_json
from envsolve.verify.report import Report


def as_proof(report: Report) -> Proof:
    """Whether it was verified, what failed, and the report as JSON values."""
    failed = tuple(check.name for check in report.checks if check.outcome == "failed")
    return Proof(verified=report.verified, failed=failed, report=report_json(report))
