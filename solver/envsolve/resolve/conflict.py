"""Conflict: why a set of requirements has no answer, told in the users' own words and with the fewest of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.errors import RefusedError
from envsolve.record import record
from envsolve.resolve.choices import Choices
from envsolve.resolve.links import links
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


class SearchGaveUp(RefusedError):
    """The search was given up: there may be an answer all the same."""

    def __init__(self) -> None:
        super().__init__(
            "too many combinations of versions were tried without an answer",
            hint="pin the packages that matter most to a version",
        )


Solution = Mapping[str, Candidate]
Solve = Callable[[Choices, Sequence[Requirement]], Solution | Conflict]


def explain(
    roots: Sequence[Requirement],
    conflict: Conflict,
    solve: Solve,
    choices: Choices,
    constraints: Sequence[Requirement] = (),
) -> RefusedError:
    """The error that tells a conflict: the fewest requirements that make it, why, and a change seen to help.

    `constraints` are those of the user.
    """
    if not conflict.causes:
        return SearchGaveUp()
    kept, conflict = _smallest(roots, conflict, partial(solve, choices))
    guilty = [*kept, *_fixed(roots, kept, conflict, choices)]
    parents = [cause.parent for cause in conflict.causes if cause.parent is not None]
    told = [*(f"you ask for {root}" for root in guilty), *links(kept, parents, choices), *_reasons(conflict, choices)]
    lines = list(dict.fromkeys(told))
    head = f"{guilty[0].name} can't be installed" if len(guilty) == 1 else "these requirements can't go together"
    return RefusedError(f"{head}:\n  " + "\n  ".join(lines), hint=_remedy(roots, kept, solve, choices, constraints))


def _smallest(
    roots: Sequence[Requirement], conflict: Conflict, solve: Callable[[Sequence[Requirement]], Solution | Conflict]
) -> tuple[Sequence[Requirement], Conflict]:
    """Leave out every requirement without which the conflict stays."""
    kept = list(roots)
    for root in roots:
        if len(kept) == 1:
            break
        fewer = [r for r in kept if r is not root]
        found = _tried(solve, fewer)
        if isinstance(found, Conflict) and found.causes:
            kept, conflict = fewer, found
    return kept, conflict


def _tried(
    solve: Callable[[Sequence[Requirement]], Solution | Conflict], roots: Sequence[Requirement]
) -> Solution | Conflict | None:
    """None where another plan would be needed to know: a package wants a companion that this one does not hold."""
    try:
        return solve(roots)
    except RefusedError:
        return None


def _fixed(
    roots: Sequence[Requirement], kept: Sequence[Requirement], conflict: Conflict, choices: Choices
) -> list[Requirement]:
    """What else of the user's fixed the packages in the conflict: limits on planned ones, and addresses."""
    names = {cause.need.name for cause in conflict.causes}
    planned = {name for name in names if choices.is_planned(name)}
    fixing = (r for r in roots if r not in kept and canonicalize_name(r.name) in names)
    return [r for r in fixing if r.url or (r.specifier and canonicalize_name(r.name) in planned)]


def _reasons(conflict: Conflict, choices: Choices) -> Iterator[str]:
    yield from _needs(conflict)
    for name in sorted({c.need.name for c in conflict.causes if not c.need.name.startswith("<")}):
        yield from (f"a constraint says {constraint}" for constraint in choices.constraints_on(name))
        yield _supply(name, choices)


def _needs(conflict: Conflict) -> Iterator[str]:
    """What packages need: one line for all versions of a package that need the same."""
    parents: dict[tuple[str, str], dict[int, str]] = {}
    for cause in conflict.causes:
        if cause.parent is not None:
            parents.setdefault((cause.parent.key, cause.need.text), {})[cause.parent.place] = cause.parent.text
    for (key, text), some in sorted(parents.items()):
        shown = ", ".join(some[place] for place in sorted(some)[:_SHOWN_VERSIONS])
        more = f" and {len(some) - _SHOWN_VERSIONS} others" if len(some) > _SHOWN_VERSIONS else ""
        yield f"{key} {shown}{more} {'need' if len(some) > 1 else 'needs'} {text}"


def _supply(name: str, choices: Choices) -> str:
    """What there is of a package, in one line."""
    listing = choices.listing(name)
    if choices.is_planned(name):
        return f"this machine's plan has {name} {listing.versions[0]}"
    if choices.has_address(name):
        return f"the address that you name holds {name} {listing.versions[0]}"
    dropped = f" ({listing.dropped})" if str(listing.dropped) else ""
    if not listing.versions:
        return f"{name} has no wheel for this target{dropped}" if dropped else _nowhere(name)
    shown = ", ".join(str(version) for version in listing.versions[:_SHOWN_VERSIONS])
    more = len(listing.versions) - _SHOWN_VERSIONS
    shown += f" and {more} older" if more > 0 else ""
    if listing.finals:
        return f"{name} for this target: {shown}"
    return f"{name} has only {'pre-releases' if ',' in shown else 'a pre-release'} for this target: {shown}{dropped}"


def _nowhere(name: str) -> str:
    return f"no index here has {name}: is the name right? --index and --find-links name other places"


def _remedy(
    roots: Sequence[Requirement],
    kept: Sequence[Requirement],
    solve: Solve,
    choices: Choices,
    constraints: Sequence[Requirement],
) -> str:
    """The first change to one requirement or constraint that makes the whole set solvable, or ""."""
    for text, changed in _changes(roots, kept, choices):
        if _solvable(_tried(partial(solve, choices), changed)):
            return text
    for constraint in constraints:
        if _solvable(_tried(partial(solve, choices.without(constraint)), roots)):
            return f"leave out the constraint {constraint}"
    return ""


def _solvable(found: Solution | Conflict | None) -> bool:
    return found is not None and not isinstance(found, Conflict)


def _changes(
    roots: Sequence[Requirement], kept: Sequence[Requirement], choices: Choices
) -> Iterator[tuple[str, Sequence[Requirement]]]:
    for root in kept:
        for other in _looser(root, choices):
            yield f"write {other} in place of {root}", [other if r is root else r for r in roots]
    if len(kept) > 1:
        for root in kept:
            if canonicalize_name(root.name) != "torch":
                yield f"leave out {root}", [r for r in roots if r is not root]


def _looser(root: Requirement, choices: Choices) -> Iterator[Requirement]:
    """The requirement with a pre-release that it allows and does not name, and with no versions at all."""
    if not root.specifier:
        return
    listing = choices.listing(canonicalize_name(root.name))
    allowed = listing.allowed(root.specifier)
    early = sorted(allowed - listing.finals) if not allowed & listing.finals else []
    for versions in (*(f"=={listing.texts[place]}" for place in early[:1]), ""):
        other = Requirement(str(root))
        other.specifier = SpecifierSet(versions)
        yield other


def conflict_of(causes: Iterable[tuple[Need, Candidate | None]]) -> Conflict:
    """The Conflict behind resolvelib's causes."""
    return Conflict(causes=tuple(Cause(need=need, parent=parent) for need, parent in causes))
