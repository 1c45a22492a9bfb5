"""Conflict: why a set of requirements has no answer, told in the users' own words and with the fewest of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envsolve.resolve.candidates import Candidate
from envsolve.resolve.provider import PYTHON, Need, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Lines that tell the conflict, the packages that take part, and a hint ("" if none)."""

    lines: tuple[str, ...]
    names: tuple[str, ...]
    hint: str = ""


def conflict_of(causes: Iterable[Any], provider: Provider) -> Conflict:
    """The Conflict behind resolvelib's causes: who asks for what, and what there is."""
    pairs = sorted({_cause(info.requirement, info.parent) for info in causes})
    names = sorted({name for name, _, _ in pairs})
    lines = [f"{who} {what}" for _, who, what in pairs]
    lines += [line for name in names if (line := provider.shortage(name))]
    return Conflict(lines=tuple(dict.fromkeys(lines)), names=tuple(names))


def _cause(need: Need, parent: Candidate | None) -> tuple[str, str, str]:
    if need.name == PYTHON:
        return (PYTHON, str(parent), f"needs {need.text}")
    if parent is None:
        return (need.name, "you ask for", need.text)
    return (need.name, str(parent), f"needs {need.text}")


def smallest_conflict(
    roots: Sequence[Requirement],
    solve: Callable[[Sequence[Requirement]], object],
    conflict: Conflict,
) -> Conflict:
    """Leave out every requirement without which the conflict stays, and tell what is left.

    `solve` gives a Conflict where the given requirements have no answer. What can't be left out is guilty together.
    """
    kept = list(roots)
    for root in list(roots):
        if len(kept) == 1:
            break
        fewer = [r for r in kept if r is not root]
        found = solve(fewer)
        if isinstance(found, Conflict):
            kept, conflict = fewer, found
    return Conflict(lines=_told(kept, conflict), names=conflict.names, hint=_hint(kept))


def _told(kept: Sequence[Requirement], conflict: Conflict) -> tuple[str, ...]:
    said = set(conflict.lines)
    asked = [f"you ask for {root}" for root in kept]
    return (*asked, *(line for line in conflict.lines if line not in asked)) if said else tuple(asked)


def _hint(kept: Sequence[Requirement]) -> str:
    loose = [canonicalize_name(r.name) for r in kept if r.specifier]
    return f"relax or leave out one of: {', '.join(loose)}" if loose else ""
