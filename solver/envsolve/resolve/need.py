"""Need: one requirement on one package, with the versions that satisfy it worked out beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from envsolve.resolve.candidates import Candidate, Listing

PYTHON = "<python>"  # no package can be called that
_EXACT = ("==", "===")
_UPPER = ("<", "<=", "~=", "==", "===")


@dataclass(slots=True, eq=False)
class Need:
    """One requirement on one package or on one extra of it; `text` is how its author wrote it.

    `allowed` holds the places in the package's listing that satisfy it, so that a check is a look-up.
    """

    key: str
    name: str
    extra: str
    specifier: SpecifierSet
    text: str
    allowed: frozenset[int]
    exact: bool
    bounded: bool
    prereleases: bool

    def __str__(self) -> str:
        return self.text


def need_of(name: str, extra: str, requirement: Requirement, listing: Listing, *, usable: bool) -> Need:
    """The Need for a package (`extra` "") or for one extra of it; not `usable`: nothing can satisfy it."""
    specifier = requirement.specifier
    operators = [(s.operator, s.version) for s in specifier]
    return Need(
        key=f"{name}[{extra}]" if extra else name,
        name=name,
        extra=extra,
        specifier=specifier,
        text=without_marker(requirement),
        allowed=listing.allowed(specifier) if usable else frozenset(),
        exact=any(operator in _EXACT and not version.endswith(".*") for operator, version in operators),
        bounded=any(operator in _UPPER for operator, _ in operators),
        prereleases=bool(specifier.prereleases),
    )


def same_version(candidate: Candidate) -> Need:
    """An extra needs its own package at its own version."""
    return Need(
        key=candidate.name,
        name=candidate.name,
        extra="",
        specifier=SpecifierSet(),
        text=f"{candidate.name}=={candidate.version}",
        allowed=frozenset((candidate.order,)),
        exact=True,
        bounded=True,
        prereleases=True,
    )


def impossible_python(requires_python: SpecifierSet) -> Need:
    """What a wheel needs whose METADATA rules the target's Python out: nothing satisfies it."""
    return Need(
        key=PYTHON,
        name=PYTHON,
        extra="",
        specifier=requires_python,
        text=f"python {requires_python}",
        allowed=frozenset(),
        exact=False,
        bounded=False,
        prereleases=False,
    )


def without_marker(requirement: Requirement) -> str:
    """The text of a requirement, less its marker: where it is told, it holds."""
    text = str(requirement)
    return text.removesuffix(str(requirement.marker)).rstrip("; ") if requirement.marker else text
