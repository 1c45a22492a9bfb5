"""The finding as JSON, schema 1: the contract that programs read."""

from __future__ import annotations

from typing import Any

from envsolve.doctor.finding import Finding

SCHEMA = 1


def as_json(finding: Finding) -> dict[str, Any]:
    """Every key of the contract."""
    return {
        "schema": SCHEMA,
        "status": finding.status,
        "finding": finding.code,
        "headline": finding.headline,
        "evidence": list(finding.evidence),
        "fixes": [{"text": fix.text, "commands": list(fix.commands)} for fix in finding.fixes],
        "missing": [{"field": m.field, "how": m.how} for m in finding.missing],
        "fine": list(finding.fine),
        "certainty": finding.certainty,
    }
