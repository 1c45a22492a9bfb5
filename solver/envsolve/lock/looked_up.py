"""Look up what a plan asks for beside the torch family, and let it have its say in the plan."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envsolve.errors import OutsideError, RefusedError
from envsolve.judge.fit import Note
from envsolve.lock.lock_plan import FileRow, Solved, solve
from envsolve.record import record, replace
from envsolve.resolve.candidates import Listing, fitting_listing
from envsolve.resolve.conflict import SearchGaveUp
from envsolve.resolve.plan import Answer, NoPlan, Plan, Remedy
from envsolve.resolve.planned_index import PlannedIndex
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.protocol import Index
from envsolve.resolve.request import Request
from envsolve.resolve.target_env import TargetEnv, target_env
from envsolve.resolve.url_file import url_file
from envsolve.rulebook.rulebook import Rulebook


@record
class _Absent:
    """A requirement that no index can serve, and why."""

    name: str
    why: str


def look_up(plan: Plan, index: Index, rulebook: Rulebook) -> Answer:
    """The plan with versions for its other requirements (`resolved`), or another one that they need.

    What no index has as a wheel for the target stays `unresolved`, with a note; a set that contradicts itself is a
    NoPlan. Where an address can't be reached or the search is given up the plan stands as it is, with a note.
    """
    try:
        return _looked_up(plan, PlannedIndex(index), rulebook)
    except OutsideError as error:
        note = Note(code="not-looked-up", text=f"the other requirements were not looked at: {error.message}")
        return replace(plan, notes=(*plan.notes, note))


def _looked_up(plan: Plan, index: PlannedIndex, rulebook: Rulebook) -> Answer:
    env = target_env(plan.machine, plan.python, plan.build.glibc_min)
    index.prefetch([canonicalize_name(r.name) for r in plan.others if r.url is None])
    absent = tuple(_absent(plan, index, env))
    names = {one.name for one in absent} | _addressed(plan)
    notes = tuple(Note(code="not-on-the-index", text=f"{one.name}: {one.why}") for one in absent)
    request = plan.request
    asked = tuple(r for r in request.requirements if canonicalize_name(r.name) not in names)
    missing = tuple(r for r in request.requirements if r not in asked)

    def planner(wanted: Request, excluded: frozenset[FileRow]) -> Answer:
        """The plan with what no index has, which may rule out builds all the same, and not for the closure to find."""
        whole = replace(wanted, requirements=(*wanted.requirements, *missing))
        found = plan_for(plan.machine, whole, rulebook, excluded=excluded)
        return replace(found, request=wanted) if isinstance(found, Plan) else found

    try:
        found = solve(replace(request, requirements=asked), planner, index)
    except SearchGaveUp as error:
        note = Note(code="not-looked-up", text=f"the other requirements: {error.message}; {error.hint}")
        return replace(plan, notes=(*plan.notes, note))
    except RefusedError as error:
        return _refused(plan, error)
    if not isinstance(found, Solved):
        return found
    told = tuple(Note(code="other-requirements", text=difference) for difference in found.differences)
    return replace(
        found.plan,
        request=request,
        unresolved=tuple(n for n in plan.unresolved if canonicalize_name(n) in names - _addressed(found.plan)),
        resolved=(*_resolved(found, asked), *((w.name, url_file(w).version.public) for w in found.plan.wheels)),
        notes=(*told, *notes, *found.plan.notes),
    )


def _absent(plan: Plan, index: Index, env: TargetEnv) -> Iterator[_Absent]:
    """The other requirements of which no index has a usable version."""
    addressed = _addressed(plan)
    for requirement in plan.others:
        name = canonicalize_name(requirement.name)
        if requirement.url is not None or not env.holds(requirement.marker) or name in addressed:
            continue
        listing = fitting_listing(name, index.files(name), env)
        if not listing.allowed(requirement.specifier):
            yield _Absent(name=name, why=_why(requirement, listing))


def _addressed(plan: Plan) -> set[str]:
    """What the rules know a wheel of that is on no index: a lock reads it, a plan does not."""
    return {canonicalize_name(wheel.name) for wheel in plan.wheels}


def _why(requirement: Requirement, listing: Listing) -> str:
    dropped = f" ({listing.dropped})" if str(listing.dropped) else ""
    if listing.versions:
        return f"no version that is there for this target satisfies {requirement.specifier}{dropped}"
    return f"no wheel for this target{dropped}" if dropped else "no index that was asked has it"


def _resolved(found: Solved, asked: tuple[Requirement, ...]) -> Iterator[tuple[str, str]]:
    """Name and version of what was asked for beside the planned packages."""
    planned = {package.name for package in found.plan.packages}
    names = {canonicalize_name(requirement.name) for requirement in asked}
    for package in found.closure.packages:
        if package.name in names and package.name not in planned:
            yield package.name, str(package.version)


def _refused(plan: Plan, error: RefusedError) -> NoPlan:
    remedies = (Remedy(code="relax-pin", text=error.hint),) if error.hint else ()
    return NoPlan(
        machine=plan.machine,
        request=plan.request,
        guilty=error.message,
        refused=plan.refused,
        remedies=remedies,
        notes=plan.notes,
        fits=plan.fits,
    )
