"""The answer as JSON, schema 1: the contract that programs read."""

from __future__ import annotations

from typing import Any

from envsolve.resolve.plan import Answer, NeedsInput, NoPlan, Plan, Refused

SCHEMA = 1


def as_json(answer: Answer) -> dict[str, Any]:
    """Every key of the contract, whatever the answer; lists that don't apply are empty."""
    if isinstance(answer, Plan):
        return {**_common(answer), **_plan(answer)}
    if isinstance(answer, NoPlan):
        return {**_common(answer), "guilty": answer.guilty, "rejected": _rejected(answer.refused), **_remedies(answer)}
    missing = [{"field": m.field, "how": m.how} for m in answer.missing]
    return {**_common(answer), "missing": missing, "rejected": _rejected(answer.refused)}


def _common(answer: Answer) -> dict[str, Any]:
    status = {Plan: "solved", NoPlan: "no-solution", NeedsInput: "needs-input"}[type(answer)]
    return {
        "schema": SCHEMA,
        "status": status,
        "variant": None,
        "index_url": None,
        "python": answer.machine.python,
        "packages": [],
        "unresolved": [],
        "fits": [],
        "notes": [{"code": n.code, "text": n.text} for n in answer.notes],
        "missing": [],
        "rejected": [],
        "remedies": [],
    }


def _plan(plan: Plan) -> dict[str, Any]:
    packages = [{"name": p.name, "version": p.label(plan.variant)} for p in plan.packages]
    return {
        "variant": plan.variant,
        "index_url": plan.index_url or None,
        "packages": packages,
        "unresolved": list(plan.unresolved),
        "fits": [{"gpu": g.gpu, "verdict": g.verdict, "code": g.code} for g in plan.fits],
        "rejected": _rejected(plan.refused),
        **_remedies(plan),
    }


def _rejected(refused: tuple[Refused, ...]) -> list[dict[str, str]]:
    return [
        {"torch": str(r.torch), "variant": r.variant, "code": r.refusals[0].code, "text": r.refusals[0].text}
        for r in refused
    ]


def _remedies(answer: Plan | NoPlan) -> dict[str, Any]:
    return {"remedies": [{"code": r.code, "text": r.text, "command": r.command} for r in answer.remedies]}


def error_json(message: str, hint: str) -> dict[str, Any]:
    """The contract's form of an error (exit 2 or 3)."""
    return {"schema": SCHEMA, "status": "error", "error": message, "hint": hint}
