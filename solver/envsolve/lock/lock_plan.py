"""lock_plan: plan and close, and plan again until every planned file is really on the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from packaging.requirements import Requirement

from envsolve.resolve.closure import Closure, close
from envsolve.resolve.plan import Answer, Plan
from envsolve.resolve.protocol import Index
from envsolve.resolve.request import Request
from envsolve.resolve.sources import CompanionWanted, PlannedFileMissing

Row = tuple[str, str, str]
Planner = Callable[[Request, frozenset[Row]], Answer]


def close_plan(request: Request, planner: Planner, index: Index) -> tuple[Answer, Closure | None, tuple[str, ...]]:
    """Plan, solve the whole set, and plan again without the rows whose files are not on the index.

    Gives the last answer, its closure (None where the answer is no), and in words what differs from the first plan.
    Raises RefusedError for contradicting requirements, OutsideError where an address can't be reached.
    """
    excluded: frozenset[Row] = frozenset()
    wanted: list[Requirement] = []
    absent: list[str] = []
    first: Plan | None = None
    while True:
        widened = replace(request, requirements=(*request.requirements, *wanted))
        answer = planner(widened, excluded)
        if not isinstance(answer, Plan):
            return answer, None, tuple(absent)
        first = first or answer
        try:
            closure = close(answer, index, optional=frozenset(r.name for r in wanted))
        except PlannedFileMissing as missing:
            if missing.row in excluded:
                raise
            excluded |= {missing.row}
            absent.append(missing.message)
        except CompanionWanted as companion:
            wanted.append(companion.requirement)
        else:
            return answer, closure, (*absent, *_changes(first, answer))


def _changes(first: Plan, last: Plan) -> tuple[str, ...]:
    before = {package.name: package.label(first.variant) for package in first.packages}
    after = {package.name: package.label(last.variant) for package in last.packages}
    return tuple(
        f"{name} {after[name]} instead of the planned {label}"
        for name, label in before.items()
        if name in after and after[name] != label
    )
