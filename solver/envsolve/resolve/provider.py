"""Provider: tells resolvelib which versions exist for a target and what each of them needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from resolvelib import AbstractProvider

from envsolve.index.release import WheelMetadata
from envsolve.resolve.candidates import Candidate, Listing
from envsolve.resolve.sources import Sources

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


class Provider(AbstractProvider[Need, Candidate, str]):
    """The resolvelib provider over the sources of one target.

    `constraints` bind a package only if it is needed; the versions in `prefer` are tried before newer ones.
    """

    def __init__(
        self, sources: Sources, constraints: Sequence[Requirement] = (), prefer: Mapping[str, Version] | None = None
    ) -> None:
        self._sources = sources
        self._prefer = prefer or {}
        self._constraints: dict[str, list[Requirement]] = {}
        for constraint in constraints:
            self._constraints.setdefault(canonicalize_name(constraint.name), []).append(constraint)
        self._needs: dict[str, tuple[Need, ...]] = {}
        self._dependencies: dict[str, tuple[Need, ...]] = {}
        self._depth: dict[str, int] = {}

    def needs(self, requirement: Requirement, parent_depth: int = -1) -> tuple[Need, ...]:
        """The Needs of a requirement: one for the package and one for each extra."""
        text = _without_marker(requirement)
        found = self._needs.get(text)
        if found is None:
            found = self._needs[text] = tuple(self._read(requirement, text))
        for need in found:
            self._depth.setdefault(need.key, parent_depth + 1)
        return found

    def _read(self, requirement: Requirement, text: str) -> Iterator[Need]:
        name = canonicalize_name(requirement.name)
        for extra in ("", *sorted(canonicalize_name(extra) for extra in requirement.extras)):
            yield self._need(name, extra, requirement.specifier, text, requirement.url)

    def _need(self, name: str, extra: str, specifier: SpecifierSet, text: str, url: str | None = None) -> Need:
        listing = self._sources.listing(name, specifier)
        usable = not url or self._sources.is_url(name, url)
        operators = [(s.operator, s.version) for s in specifier]
        return Need(
            key=f"{name}[{extra}]" if extra else name,
            name=name,
            extra=extra,
            specifier=specifier,
            text=text,
            allowed=listing.allowed(specifier) if usable else frozenset(),
            exact=any(operator in _EXACT and not version.endswith(".*") for operator, version in operators),
            bounded=any(operator in _UPPER for operator, _ in operators),
            prereleases=bool(specifier.prereleases),
        )

    def listing(self, name: str) -> Listing:
        """What there is of a package."""
        return self._sources.listing(name)

    def constraints_on(self, name: str) -> Sequence[Requirement]:
        """The constraints that bind a package."""
        return self._constraints.get(name, ())

    def is_planned(self, name: str) -> bool:
        """Whether the plan pins this package."""
        return self._sources.is_planned(name)

    def unmet(self) -> Mapping[str, tuple[SpecifierSet, ...]]:
        """What was asked of planned packages, other than by each other, and the planned version does not satisfy."""
        found: dict[str, list[SpecifierSet]] = {}
        for need in (need for needs in self._needs.values() for need in needs):
            if not need.allowed and self._sources.is_planned(need.name):
                found.setdefault(need.name, []).append(need.specifier)
        return {name: tuple(specifiers) for name, specifiers in found.items()}

    # What resolvelib asks

    def identify(self, requirement_or_candidate: Need | Candidate) -> str:
        return requirement_or_candidate.key

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[Any]],
        backtrack_causes: Sequence[Any],
    ) -> tuple[bool, bool, bool, int, str]:
        """The torch family first, then exact pins, then what has an upper bound, then the nearest to the request."""
        needs = [info.requirement for info in information[identifier]]
        return (
            not self._sources.is_planned(identifier),
            not any(need.exact for need in needs),
            not any(need.bounded for need in needs),
            self._depth.get(identifier, 0),
            identifier,
        )

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[str],
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[Any]],
        backtrack_causes: Sequence[Any],
    ) -> Iterable[str]:
        """After a conflict, settle the packages that took part in it before all others."""
        names = list(identifiers)
        culprits = {cause.requirement.key for cause in backtrack_causes}
        culprits.update(cause.parent.key for cause in backtrack_causes if cause.parent is not None)
        return [name for name in names if name in culprits] or names

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Need]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> Sequence[Candidate]:
        needs = list(requirements[identifier])
        name, extra = needs[0].name, needs[0].extra
        if name == PYTHON:
            return ()
        listing = self._sources.listing(name)
        every = [*needs, *(requirements[name] if extra and name in requirements else ())]
        places = self._usable(listing, every)
        places -= {candidate.order for candidate in incompatibilities[identifier]}
        ordered = sorted(places)
        preferred = listing.place(self._prefer.get(name))
        if preferred in places:
            ordered = [preferred, *(order for order in ordered if order != preferred)]
        return [listing.candidate(extra, order) for order in ordered]

    def _usable(self, listing: Listing, needs: Sequence[Need]) -> frozenset[int]:
        places = needs[0].allowed
        for need in needs[1:]:
            places &= need.allowed
        for constraint in self._constraints.get(listing.name, ()):
            places &= listing.allowed(constraint.specifier)
        if not any(need.exact for need in needs):
            places -= listing.yanked
        if listing.finals and not any(need.prereleases for need in needs):
            places &= listing.finals
        return places

    def is_satisfied_by(self, requirement: Need, candidate: Candidate) -> bool:
        return candidate.order in requirement.allowed

    def get_dependencies(self, candidate: Candidate) -> Sequence[Need]:
        key = f"{candidate.key}=={candidate.version}"
        found = self._dependencies.get(key)
        if found is None:
            found = self._dependencies[key] = tuple(self._dependencies_of(candidate))
        return found

    def _dependencies_of(self, candidate: Candidate) -> Iterator[Need]:
        metadata = self._sources.metadata(candidate.file)
        if not self._sources.env.allows_python(metadata.requires_python):
            yield self._impossible_python(candidate, metadata)
            return
        if candidate.extra:
            yield self._same_version(candidate)
        depth = self._depth.get(candidate.key, 0)
        wanted = [r for r in metadata.requires if self._applies(r, candidate.extra)]
        self._sources.prefetch([canonicalize_name(r.name) for r in wanted])
        for requirement in wanted:
            yield from self.needs(self._sources.as_planned(candidate.name, requirement), depth)

    def _applies(self, requirement: Requirement, extra: str) -> bool:
        env = self._sources.env
        if not extra:
            return env.holds(requirement.marker)
        return not env.holds(requirement.marker) and env.holds(requirement.marker, extra)

    def _same_version(self, candidate: Candidate) -> Need:
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

    def _impossible_python(self, candidate: Candidate, metadata: WheelMetadata) -> Need:
        return Need(
            key=PYTHON,
            name=PYTHON,
            extra="",
            specifier=metadata.requires_python or SpecifierSet(),
            text=f"python {metadata.requires_python}",
            allowed=frozenset(),
            exact=False,
            bounded=False,
            prereleases=False,
        )


def _without_marker(requirement: Requirement) -> str:
    text = str(requirement)
    return text.removesuffix(str(requirement.marker)).rstrip("; ") if requirement.marker else text
