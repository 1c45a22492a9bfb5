"""Conflict: why a set of requirements has no answer, told in the users' own words and with the fewest of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.errors import RefusedError
from envsolve.record import record
from envsolve.resolve.choices import Choices
from envsolve.resolve.listing import Candidate
from envsolve.resolve.need import Need

_SHOWN_VERSIONS = 3


@record
class Cause:
    """Somebody's need that takes part in a conflict; `parent` None is the user."""

    need: Need
    parent: Candidate | None


@record
class Conflict:
    """The needs that can't be met together; empty where the search was given up."""

    causes: tuple[Cause, ...]


Solution = Mapping[str, Candidate]
Solve = Callable[[Sequence[Requirement]], Solution | Conflict]


def explain(roots: Sequence[Requirement], conflict: Conflict, solve: Solve, choices: Choices) -> RefusedError:
    """The error that tells a conflict: the fewest requirements that make it, why, and a change seen to help."""
    if not conflict.causes:
        return RefusedError(
            "too many combinations of versions were tried without an answer",
            hint="pin the packages that matter most to a version",
        )
    kept, conflict = _smallest(roots, conflict, solve)
    guilty = [*kept, *_pins_of_the_plan(roots, kept, conflict, choices)]
    lines = list(dict.fromkeys([*(f"you ask for {root}" for root in guilty), *_reasons(conflict, choices)]))
    head = f"{guilty[0].name} can't be installed" if len(guilty) == 1 else "these requirements can't go together"
    return RefusedError(f"{head}:\n  " + "\n  ".join(lines), hint=_remedy(roots, kept, solve))


def _smallest(roots: Sequence[Requirement], conflict: Conflict, solve: Solve) -> tuple[Sequence[Requirement], Conflict]:
    """Leave out every requirement without which the conflict stays."""
    kept = list(roots)
    for root in roots:
        if len(kept) == 1:
            break
        fewer = [r for r in kept if r is not root]
        found = solve(fewer)
        if isinstance(found, Conflict) and found.causes:
            kept, conflict = fewer, found
    return kept, conflict


def _pins_of_the_plan(
    roots: Sequence[Requirement], kept: Sequence[Requirement], conflict: Conflict, choices: Choices
) -> list[Requirement]:
    """The user's limits on planned packages in the conflict: without them the plan itself would be another."""
    planned = {cause.need.name for cause in conflict.causes if choices.is_planned(cause.need.name)}
    return [r for r in roots if r.specifier and canonicalize_name(r.name) in planned and r not in kept]


def _reasons(conflict: Conflict, choices: Choices) -> Iterator[str]:
    yield from sorted({f"{c.parent} needs {c.need.text}" for c in conflict.causes if c.parent is not None})
    for name in sorted({c.need.name for c in conflict.causes if not c.need.name.startswith("<")}):
        yield from (f"a constraint says {constraint}" for constraint in choices.constraints_on(name))
        yield _supply(name, choices)


def _supply(name: str, choices: Choices) -> str:
    """What there is of a package, in one line."""
    listing = choices.listing(name)
    if choices.is_planned(name):
        return f"this machine's plan has {name} {listing.versions[0]}"
    dropped = f" ({listing.dropped})" if str(listing.dropped) else ""
    if not listing.versions:
        return f"{name} has no wheel for this target{dropped}" if dropped else f"no index here has {name}"
    shown = ", ".join(str(version) for version in listing.versions[:_SHOWN_VERSIONS])
    more = len(listing.versions) - _SHOWN_VERSIONS
    shown += f" and {more} older" if more > 0 else ""
    if listing.finals:
        return f"{name} for this target: {shown}"
    return f"{name} has only {'pre-releases' if ',' in shown else 'a pre-release'} for this target: {shown}{dropped}"


def _remedy(roots: Sequence[Requirement], kept: Sequence[Requirement], solve: Solve) -> str:
    """The first change to one requirement that makes the whole set solvable, or ""."""
    for text, changed in _changes(roots, kept):
        found = solve(changed)
        if not isinstance(found, Conflict):
            return text
    return ""


def _changes(roots: Sequence[Requirement], kept: Sequence[Requirement]) -> Iterator[tuple[str, Sequence[Requirement]]]:
    for root in kept:
        if root.specifier:
            loose = Requirement(str(root))
            loose.specifier = SpecifierSet()
            yield f"write {loose} in place of {root}", [loose if r is root else r for r in roots]
    if len(kept) > 1:
        for root in kept:
            if canonicalize_name(root.name) != "torch":
                yield f"leave out {root}", [r for r in roots if r is not root]


def conflict_of(causes: Iterable[tuple[Need, Candidate | None]]) -> Conflict:
    """The Conflict behind resolvelib's causes."""
    return Conflict(causes=tuple(Cause(need=need, parent=parent) for need, parent in causes))
