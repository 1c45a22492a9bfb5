"""The advice about the driver for programs."""

from __future__ import annotations

from typing import Any

from envsolve.rulebook.tables import Build
from envsolve.ways.driver import DriverAdvice
from envsolve.ways.driver_compat import Compat

SCHEMA = 1


def as_json(advice: DriverAdvice) -> dict[str, Any]:
    """A mapping for json.dumps; what is not known is null."""
    current = advice.current
    return {
        "schema": SCHEMA,
        "action": advice.action,
        "reason": advice.reason,
        "cards": advice.cards,
        "driver": {
            "version": None if current.version is None else str(current.version),
            "branch": current.branch,
            "cuda": None if current.cuda is None else str(current.cuda),
        },
        "first_branch": advice.first,
        "last_branch": advice.last,
        "for": None if advice.build is None else _build(advice.build),
        "enough": None if advice.enough is None else str(advice.enough),
        "branch": advice.branch,
        "compat": None if advice.compat is None else _compat(advice.compat),
        "steps": [
            {"system": s.system, "title": s.title, "lines": list(s.lines), "note": s.note, "source": s.source}
            for s in advice.steps
        ],
        "notes": list(advice.notes),
    }


def _build(build: Build) -> dict[str, str]:
    return {"torch": str(build.torch), "variant": build.variant}


def _compat(compat: Compat) -> dict[str, Any]:
    return {
        "package": compat.package,
        "for": _build(compat.build),
        "lines": {system: list(lines) for system, lines in compat.lines},
        "certainty": compat.certainty,
        "source": compat.source,
    }
