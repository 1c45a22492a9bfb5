"""The answer as JSON, schema 1: the contract that programs read."""

from __future__ import annotations

from typing import Any

from envsolve.judge.fit import GpuFit
from envsolve.resolve.plan import Answer, GpuChoice, NeedsInput, NoPlan, Plan, Refused

SCHEMA = 1


def as_json(answer: Answer) -> dict[str, Any]:
    """Every key of the contract, whatever the answer; lists that don't apply are empty."""
    if isinstance(answer, Plan):
        return {**_common(answer), **_plan(answer)}
    if isinstance(answer, NoPlan):
        no = {"guilty": answer.guilty, "choices": [_choice(c) for c in answer.choices]}
        return {**_common(answer), **no, "rejected": _rejected(answer.refused), **_remedies(answer)}
    missing = [{"field": m.field, "how": m.how} for m in answer.missing]
    return {**_common(answer), "missing": missing, "rejected": _rejected(answer.refused)}


def _common(answer: Answer) -> dict[str, Any]:
    status = {Plan: "solved", NoPlan: "no-solution", NeedsInput: "needs-input"}[type(answer)]
    notes = [{"code": n.code, "text": n.text} for n in answer.notes]
    return {"schema": SCHEMA, "status": status, **_nothing(), "python": answer.machine.python, "notes": notes}


def _nothing() -> dict[str, Any]:
    """The keys of the contract that have no value yet."""
    lists = ("packages", "unresolved", "fits", "notes", "missing", "rejected", "remedies")
    return {"variant": None, "index_url": None, "python": None, **{key: [] for key in lists}}


def _plan(plan: Plan) -> dict[str, Any]:
    versions = [*((p.name, p.label(plan.variant)) for p in plan.packages), *plan.resolved]
    packages = [{"name": name, "version": version} for name, version in versions]
    return {
        "variant": plan.variant,
        "index_url": plan.index_url or None,
        "packages": packages,
        "unresolved": list(plan.unresolved),
        "fits": [{"gpu": g.gpu, "verdict": g.verdict, "code": g.code} for g in fits_of(plan)],
        "rejected": _rejected(plan.refused),
        **_remedies(plan),
    }


def fits_of(plan: Plan) -> tuple[GpuFit, ...]:
    """One entry for each chosen GPU, in order; a CPU build leaves them all unused."""
    if plan.fits or plan.build.accelerator not in ("cpu", "mps"):
        return plan.fits
    names = (gpu.name or gpu.gfx or f"GPU {index}" for index, gpu in enumerate(plan.machine.gpus))
    return tuple(GpuFit(gpu=name, verdict="unsupported", code="") for name in names)


def _choice(choice: GpuChoice) -> dict[str, Any]:
    return {
        "torch": str(choice.torch),
        "variant": choice.variant,
        "gpus": list(choice.gpus),
        "covered": list(choice.covered),
        "lost": list(choice.lost),
        "command": choice.command,
    }


def _rejected(refused: tuple[Refused, ...]) -> list[dict[str, str]]:
    """Every reason against each build, the decisive one first."""
    return [
        {"torch": str(r.torch), "variant": r.variant, "code": reason.code, "text": reason.text}
        for r in refused
        for reason in r.refusals
    ]


def _remedies(answer: Plan | NoPlan) -> dict[str, Any]:
    return {"remedies": [{"code": r.code, "text": r.text, "command": r.command} for r in answer.remedies]}


def error_json(message: str, hint: str, *, exit_code: int = 2) -> dict[str, Any]:
    """The contract's form of an error: status error (exit 2 or 3), or no-solution where the answer is no (exit 1)."""
    status = "no-solution" if exit_code == 1 else "error"
    return {"schema": SCHEMA, "status": status, **_nothing(), "error": message, "hint": hint}
