"""lock_plan: plan, solve the whole set, and plan again until plan, index and requirements agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.errors import OutsideError, RefusedError
from envsolve.lock.lock import Lock
from envsolve.lock.make import lowest_glibc, make_lock
from envsolve.lock.virtual import virtual_packages
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.resolve.closure import Closure, Unsolved, try_close
from envsolve.resolve.plan import Answer, NeedsInput, NoPlan, Plan
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.protocol import Index
from envsolve.resolve.request import TRIO, Request
from envsolve.resolve.row import Row
from envsolve.resolve.sources import CompanionWanted, PlannedFileMissing
from envsolve.rulebook.rulebook import Rulebook

FileRow = tuple[str, str, str]  # (package, public version, variant)
Planner = Callable[[Request, frozenset[FileRow]], Answer]

MOST_NAMED = 3  # absent files that are named one by one
_MOST_OTHER_TORCHES = 12  # a set that suits none of so many is in conflict with itself


@record
class Locked:
    """A lock, the plan that it holds, and in words how that differs from the first plan (empty: not at all)."""

    lock: Lock
    plan: Plan
    differences: tuple[str, ...]


@record
class Solved:
    """A plan whose whole set was solved against the index."""

    plan: Plan
    closure: Closure
    differences: tuple[str, ...]
    passed_over: tuple[str, ...] = ()  # releases that were planned before and that no place had


def lock_plan(
    machine: Machine,
    request: Request,
    rulebook: Rulebook,
    index: Index,
    *,
    command: str,
    keep: Lock | None = None,
    upgrade: frozenset[str] = frozenset(),
) -> Locked | NoPlan | NeedsInput:
    """The lock for a machine; `command` is the line that makes it again, for the lock's header.

    With `keep`, a former lock, its versions stay wherever the request, the rules and the index still allow it, but for
    the packages in `upgrade`. Raises InputError for requirements that make no sense, RefusedError where they contradict
    each other or a planned file is nowhere, OutsideError where an address can't be reached.
    """

    def planner(asked: Request, excluded: frozenset[FileRow]) -> Answer:
        return plan_for(machine, asked, rulebook, excluded=excluded)

    found = renew(request, planner, index, keep, upgrade) if keep else solve(request, planner, index)
    if not isinstance(found, Solved):
        if index.warnings and isinstance(planner(request, frozenset()), Plan):
            raise _out_of_reach(index)
        return found
    lock = make_lock(
        found.plan,
        found.closure,
        index,
        command=command,
        rules=rulebook.digest,
        passed_over=found.passed_over,
    )
    virtual = virtual_packages(found.plan.machine, rulebook, glibc=lowest_glibc(found.closure))
    return Locked(lock=replace(lock, virtual=virtual), plan=found.plan, differences=found.differences)


def _out_of_reach(index: Index) -> OutsideError:
    """There is a plan, the places that answered hold none of its files, and another place did not answer."""
    message = f"no planned file is where it could be looked for; {'; '.join(index.warnings)}"
    return OutsideError(message, hint="--mirror or --find-links name another place")


def renew(
    request: Request, planner: Planner, index: Index, keep: Lock, upgrade: frozenset[str] = frozenset()
) -> Solved | NoPlan | NeedsInput:
    """Like `solve`, with the versions of a former lock preferred."""
    prefer = {p.name: p.version for p in keep.packages if p.name not in upgrade}
    asked = {canonicalize_name(r.name) for r in request.requirements} | {TRIO[0]}
    family = [name for name in TRIO if name in prefer and name in asked]
    pins = [Requirement(f"{name}=={prefer[name].public}") for name in family]
    kept = _settle(replace(request, requirements=(*request.requirements, *pins)), planner, index, prefer)
    # With the same torch another variant means that the machine, the rules or the request have changed.
    if isinstance(kept, Solved) and kept.plan.variant == keep.variant:
        # What was passed over when these versions were chosen was not planned now.
        return replace(kept, passed_over=kept.passed_over or keep.header.passed_over)
    return solve(request, planner, index, prefer)


def solve(
    request: Request, planner: Planner, index: Index, prefer: Mapping[str, Version] | None = None
) -> Solved | NoPlan | NeedsInput:
    """Plan and solve. Errors as in `lock_plan`.

    A planned file that the index lacks drops its row; where a package needs another torch than the planned one, the
    torches that suit it are tried in the plan's order of preference.
    """
    found = _settle(request, planner, index, prefer)
    if not isinstance(found, _Stuck):
        return found
    for torch in _other_torches(found.plan, found.unsolved.unmet):
        pinned = Requirement(f"torch=={torch}")
        other = _settle(replace(request, requirements=(*request.requirements, pinned)), planner, index, prefer)
        if isinstance(other, Solved):
            return replace(other, differences=(*other.differences, *_changes(found.plan, other.plan, found.unsolved)))
    raise _explained(found, request, planner, index, prefer)


def _explained(
    stuck: _Stuck, request: Request, planner: Planner, index: Index, prefer: Mapping[str, Version] | None
) -> RefusedError:
    """The conflict; where no change to the other requirements helps, with a pin on torch that is seen to be it, or the
    page on which the rules know a wheel."""
    error = stuck.unsolved.explain()
    pins = [r for r in request.requirements if canonicalize_name(r.name) in TRIO and r.specifier]
    for pin in pins if not error.hint else ():
        loose = Requirement(str(pin))
        loose.specifier = SpecifierSet()
        changed = tuple(loose if r is pin else r for r in request.requirements)
        try:
            found = solve(replace(request, requirements=changed), planner, index, prefer)
        except RefusedError:
            continue
        if isinstance(found, Solved):
            return RefusedError(error.message, hint=f"write {loose} in place of {pin}")
    if not error.hint and stuck.plan.pages:
        return RefusedError(error.message, hint=" ".join(f"--find-links {page}" for page in stuck.plan.pages))
    return error


@record
class _Stuck:
    plan: Plan
    unsolved: Unsolved


def _settle(
    request: Request, planner: Planner, index: Index, prefer: Mapping[str, Version] | None
) -> Solved | _Stuck | NoPlan | NeedsInput:
    """Plan and solve until every planned file is on the index and every needed companion is planned."""
    excluded: frozenset[FileRow] = frozenset()
    wanted: tuple[Requirement, ...] = ()
    absent: tuple[str, ...] = ()
    passed_over: tuple[FileRow, ...] = ()
    first: Plan | None = None
    while True:
        answer = planner(replace(request, requirements=(*request.requirements, *wanted)), excluded)
        if not isinstance(answer, Plan):
            if not any(companion.specifier for companion in wanted):
                return answer
            # No torch that is allowed goes with that companion: whoever pins it may have another version that doesn't.
            wanted = tuple(Requirement(companion.name) for companion in wanted)
            continue
        first = first or answer
        try:
            closure = try_close(answer, index, optional=frozenset(r.name for r in wanted), prefer=prefer)
        except PlannedFileMissing as missing:
            if missing.row in excluded:
                raise  # a planner that insists would go round for ever
            excluded |= {missing.row}
            absent += (missing.message,)
            passed_over += (missing.row,)
        except CompanionWanted as companion:
            wanted += (companion.requirement,)
        else:
            if isinstance(closure, Unsolved):
                return _Stuck(plan=answer, unsolved=closure)
            changes = _changes(first, answer, None) if absent else ()
            differences = (*_folded(absent), *changes)
            return Solved(plan=answer, closure=closure, differences=differences, passed_over=tuple(_told(passed_over)))


def _told(rows: Iterable[FileRow]) -> Iterator[str]:
    """Rows by release, in the order in which they were planned: "torch 2.15.0 (cu132, cu130)"."""
    variants: dict[tuple[str, str], list[str]] = {}
    for package, version, variant in rows:
        variants.setdefault((package, version), []).append(variant)
    for (package, version), some in variants.items():
        yield f"{package} {version} ({', '.join(some)})"


def _folded(absent: tuple[str, ...]) -> tuple[str, ...]:
    """The absent files; of many only the first and the last are named."""
    if len(absent) <= MOST_NAMED:
        return absent
    return (f"{absent[0]}, nor are {len(absent) - 1} others down to {absent[-1].partition(' is not')[0]}",)


def _other_torches(plan: Plan, unmet: Mapping[str, tuple[SpecifierSet, ...]]) -> list[str]:
    """The torch versions of the plan's other rows that satisfy a need which the planned one does not, best first."""
    suits = partial(_suits, unmet=unmet)
    versions = dict.fromkeys(str(row.build.torch) for row in plan.alternatives if suits(row))
    versions.pop(str(plan.build.torch), None)
    return list(versions)[:_MOST_OTHER_TORCHES]


def _suits(row: Row, unmet: Mapping[str, tuple[SpecifierSet, ...]]) -> bool:
    return any(
        specifier.contains(package.version, prereleases=True)
        for package in row.packages
        for specifier in unmet.get(package.name, ())
    )


def _changes(first: Plan, last: Plan, unsolved: Unsolved | None) -> Iterator[str]:
    before = {package.name: package.label(first.variant) for package in first.packages}
    after = {package.name: package.label(last.variant) for package in last.packages}
    for name, label in before.items():
        if after.get(name, label) != label:
            needs = unsolved.unmet.get(name, ()) if unsolved else ()
            why = f": a package needs {name}{needs[0]}" if needs else ""
            yield f"{name} {after[name]} in place of the planned {label}{why}"
