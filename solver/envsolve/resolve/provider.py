"""Provider: tells resolvelib which versions exist for a target and what each of them needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from resolvelib import AbstractProvider

from envsolve.resolve.candidates import Candidate, Listing
from envsolve.resolve.need import PYTHON, Need, impossible_python, need_of, same_version, without_marker
from envsolve.resolve.sources import Sources


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
        text = without_marker(requirement)
        found = self._needs.get(text)
        if found is None:
            found = self._needs[text] = tuple(self._read(requirement))
        for need in found:
            self._depth.setdefault(need.key, parent_depth + 1)
        return found

    def _read(self, requirement: Requirement) -> Iterator[Need]:
        name = canonicalize_name(requirement.name)
        for extra in ("", *sorted(canonicalize_name(extra) for extra in requirement.extras)):
            yield self._need(name, extra, requirement)

    def _need(self, name: str, extra: str, requirement: Requirement) -> Need:
        listing = self._sources.listing(name, requirement.specifier)
        usable = not requirement.url or self._sources.is_url(name, requirement.url)
        return need_of(name, extra, requirement, listing, usable=usable)

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
        every = [*needs, *(requirements[name] if extra and name in requirements else ())]
        refused = {candidate.order for candidate in incompatibilities[identifier]}
        return self._choices(name, extra, every, refused)

    def _choices(
        self, name: str, extra: str, needs: Sequence[Need], refused: Set[int] = frozenset()
    ) -> list[Candidate]:
        """The candidates that meet all needs, best first."""
        listing = self._sources.listing(name)
        places = self._usable(listing, needs) - refused
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
        if listing.has_finals and not any(need.prereleases for need in needs):
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
        if metadata.requires_python and not self._sources.env.allows_python(metadata.requires_python):
            yield impossible_python(metadata.requires_python)
            return
        if candidate.extra:
            yield same_version(candidate)
        depth = self._depth.get(candidate.key, 0)
        wanted = [r for r in metadata.requires if self._applies(r, candidate.extra)]
        self._sources.prefetch([canonicalize_name(r.name) for r in wanted])
        found = [n for r in wanted for n in self.needs(self._sources.as_planned(candidate.name, r), depth)]
        self.prefetch_metadata(found)
        yield from found

    def prefetch_metadata(self, needs: Sequence[Need]) -> None:
        """Hint at the wheels that are likely to be tried for these needs: the first choice of each."""
        names = dict.fromkeys(need.name for need in needs)
        choices = [self._choices(name, "", [n for n in needs if n.name == name])[:1] for name in names]
        self._sources.prefetch_metadata([candidate.file for some in choices for candidate in some])

    def _applies(self, requirement: Requirement, extra: str) -> bool:
        env = self._sources.env
        if not extra:
            return env.holds(requirement.marker)
        return not env.holds(requirement.marker) and env.holds(requirement.marker, extra)
