"""Closure: every package that a plan installs, each at one version, with the files that fit and who needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.errors import RefusedError
from envsolve.index.release import ReleaseFile
from envsolve.record import record
from envsolve.resolve.choices import Choices
from envsolve.resolve.conflict import Conflict, Solution, conflict_of, explain
from envsolve.resolve.listing import Candidate
from envsolve.resolve.need import Need
from envsolve.resolve.plan import Plan
from envsolve.resolve.protocol import Index
from envsolve.resolve.sources import Sources
from envsolve.resolve.straight import reached, straight
from envsolve.resolve.target_env import TargetEnv, target_env
from envsolve.resolve.via import ASKED

_MAX_ROUNDS = 50_000


@record
class ClosedPackage:
    """One package of the closure. `files[0]` is what the target takes; the others of that version fit as well.

    `direct`: only the address of the file leads to it (torch family, requirements with an address).
    """

    name: str
    version: Version
    files: tuple[ReleaseFile, ...]
    direct: bool
    requires: tuple[str, ...]
    via: tuple[str, ...]


@record
class Closure:
    """All packages, sorted by name, for one target.

    `passed_over` names releases that are newer than those here and could not be looked at offline.
    """

    env: TargetEnv
    packages: tuple[ClosedPackage, ...]
    passed_over: tuple[str, ...] = ()


@record
class Unsolved:
    """No closure with this plan. `unmet` holds what packages ask of planned ones and the planned versions are not."""

    unmet: Mapping[str, tuple[SpecifierSet, ...]]
    explain: Callable[[], RefusedError]


def close(plan: Plan, index: Index, *, optional: frozenset[str] = frozenset()) -> Closure:
    """Solve the whole set of a plan: the torch family as planned, everything else from the default index.

    `optional` names planned packages that are taken only if another package needs them. Raises RefusedError where the
    requirements contradict each other (with the smallest such set), PlannedFileMissing or CompanionWanted where the
    plan must change, OutsideError where an address can't be reached.
    """
    found = try_close(plan, index, optional=optional)
    if isinstance(found, Unsolved):
        raise found.explain()
    return found


def try_close(
    plan: Plan,
    index: Index,
    *,
    optional: frozenset[str] = frozenset(),
    prefer: Mapping[str, Version] | None = None,
) -> Closure | Unsolved:
    """Like `close`, with contradicting requirements as a value: another torch may suit them.

    Of `prefer`, versions by name, each is taken where the requirements allow it, be it the newest or not.
    """
    env = target_env(plan.machine, plan.python, plan.build.glibc_min, sdists=plan.request.sdists)
    roots = _roots(plan, env, optional)
    sources = Sources(plan, index, env, [root for root in roots if root.url])
    constraints = (*plan.request.constraints, *_caps(plan))
    choices = Choices(sources, constraints, prefer)
    sources.look_ahead(constraints, prefer)
    sources.prefetch((canonicalize_name(root.name), str(root.specifier)) for root in roots)

    try:
        found = _solve(choices, roots)
    finally:
        sources.remember()
    if isinstance(found, Conflict):
        if sources.missed:
            raise next(iter(sources.missed.values()))
        explained = partial(explain, roots, found, _solve, choices, plan.request.constraints)
        return Unsolved(unmet=choices.unmet(), explain=explained)
    return _closure(found, {canonicalize_name(root.name) for root in roots}, sources, choices)


def _caps(plan: Plan) -> list[Requirement]:
    """What the planner added to the user's requirements (numpy<2): it binds numpy, it doesn't ask for it."""
    return [r for r in plan.others if r not in plan.request.requirements]


def _roots(plan: Plan, env: TargetEnv, optional: frozenset[str]) -> list[Requirement]:
    """The user's requirements that hold on the target, and torch in any case."""
    asked = [r for r in plan.request.requirements if env.holds(r.marker)]
    named = {canonicalize_name(r.name) for r in asked}
    rest = [Requirement(p.name) for p in plan.packages if p.name not in named]
    return [r for r in (*rest, *asked) if canonicalize_name(r.name) not in optional]


def _solve(choices: Choices, roots: Sequence[Requirement]) -> Solution | Conflict:
    needs = choices.roots(roots)
    return straight(choices, needs) or _search(choices, needs)


def _search(choices: Choices, needs: Sequence[Need]) -> Solution | Conflict:
    from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep
    from resolvelib.resolvers import Resolution

    from envsolve.resolve.provider import Provider  # most sets are solved without

    # Resolver does no more than this and drop what nothing leads to any more, endlessly so where that is a circle.
    search: Resolution[Need, Candidate, str] = Resolution(Provider(choices), BaseReporter())
    try:
        return reached(needs, search.resolve(needs, max_rounds=_MAX_ROUNDS).mapping, choices)
    except ResolutionImpossible as error:
        return conflict_of((cause.requirement, cause.parent) for cause in error.causes)
    except ResolutionTooDeep:
        return conflict_of(())


def _closure(mapping: Solution, asked: set[str], sources: Sources, choices: Choices) -> Closure:
    requires: dict[str, set[str]] = {candidate.name: set() for candidate in mapping.values()}
    via: dict[str, set[str]] = {name: set() for name in requires}
    for candidate in mapping.values():
        for need in choices.dependencies(candidate):
            if need.name != candidate.name:
                requires[candidate.name].add(need.name)
                via[need.name].add(candidate.name)
    packages = [
        ClosedPackage(
            name=candidate.name,
            version=candidate.version,
            files=candidate.files,
            direct=sources.is_direct(candidate.name),
            requires=tuple(sorted(requires[candidate.name])),
            via=(*((ASKED,) if candidate.name in asked else ()), *sorted(via[candidate.name])),
        )
        for candidate in mapping.values()
        if not candidate.extra
    ]
    return Closure(
        env=sources.env,
        packages=tuple(sorted(packages, key=lambda package: package.name)),
        passed_over=tuple(sorted({f"{one.name} {one.text}" for one in sources.missed if _is_newer(one, mapping)})),
    )


def _is_newer(missed: Candidate, mapping: Solution) -> bool:
    """Whether an older release of the same package was taken in its stead."""
    taken = mapping.get(missed.name)
    return taken is not None and missed.place < taken.place
