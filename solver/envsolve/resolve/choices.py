"""Choices: which versions a set of needs leaves, best first, and what each of them needs in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.errors import OfflineError, UnreadableError
from envsolve.resolve.listing import Candidate, Listing
from envsolve.resolve.need import Need, need_of, same_version
from envsolve.resolve.sources import Sources
from envsolve.resolve.wish import NOT_AT_HAND, UNREADABLE, Wish, impossible_python, wishes_of

Preference = tuple[bool, bool, bool, int, str]


class Choices:
    """The rules of choice over the sources of one target.

    `constraints` bind a package only if it is needed; the versions in `prefer` are tried before newer ones.
    """

    def __init__(
        self, sources: Sources, constraints: Sequence[Requirement] = (), prefer: Mapping[str, Version] | None = None
    ) -> None:
        self._sources = sources
        self._prefer = prefer or {}
        self._constraints: dict[str, list[Requirement]] = {}
        # Packages of which a constraint names one version, or a pre-release: as good as a requirement that does.
        self._exact: set[str] = set()
        self._early: set[str] = set()
        for constraint in constraints:
            self._bind(constraint)
        self._needs: dict[Wish, Need] = {}
        self._dependencies: dict[Candidate, tuple[Need, ...]] = {}
        self._depth: dict[str, int] = {}

    def _bind(self, constraint: Requirement) -> None:
        wish = next(wishes_of(constraint))
        self._constraints.setdefault(wish.name, []).append(constraint)
        self._exact.update((wish.name,) if wish.exact else ())
        self._early.update((wish.name,) if wish.prereleases else ())

    def without(self, constraint: Requirement) -> Choices:
        """The same choices without one of the constraints."""
        kept = [one for some in self._constraints.values() for one in some if one is not constraint]
        return Choices(self._sources, kept, self._prefer)

    def roots(self, requirements: Sequence[Requirement]) -> list[Need]:
        """The needs of the user's requirements."""
        needs = [self._need(wish, 0) for requirement in requirements for wish in wishes_of(requirement)]
        self._hint(needs)
        return needs

    def anything(self, key: str) -> Need:
        """A need that every version of a package meets; `key` may name an extra of it."""
        name, _, extra = key.rstrip("]").partition("[")
        return self._need(Wish(name, extra, "", key, exact=False, bounded=False, prereleases=False), 0)

    def listing(self, name: str) -> Listing:
        """What there is of a package."""
        return self._sources.listing(name)

    def constraints_on(self, name: str) -> Sequence[Requirement]:
        """The constraints that bind a package."""
        return self._constraints.get(name, ())

    def has_address(self, name: str) -> bool:
        """Whether the user names the address of this package's file."""
        return self._sources.has_address(name)

    def known_needs(self) -> Mapping[Candidate, Sequence[Need]]:
        """What the candidates that were looked at need."""
        return self._dependencies

    def is_planned(self, name: str) -> bool:
        """Whether the plan pins this package."""
        return self._sources.is_planned(name)

    def unmet(self) -> Mapping[str, tuple[SpecifierSet, ...]]:
        """What was asked of planned packages, other than by each other, and the planned version does not satisfy."""
        found: dict[str, list[SpecifierSet]] = {}
        for need in self._needs.values():
            if not need.allowed and self._sources.is_planned(need.name):
                found.setdefault(need.name, []).append(need.specifier)
        return {name: tuple(specifiers) for name, specifiers in found.items()}

    def preference(self, key: str, needs: Iterable[Need]) -> Preference:
        """What is settled first: the torch family, exact pins, what has an upper bound, the nearest to the request."""
        exact = bounded = False
        for need in needs:
            exact = exact or need.exact
            bounded = bounded or need.bounded
        return (not self._sources.is_planned(key), not exact, not bounded, self._depth.get(key, 0), key)

    def places(self, needs: Sequence[Need]) -> frozenset[int]:
        """The places of the versions that meet all these needs, which are about one package and its extras."""
        if needs[0].name.startswith("<"):
            return frozenset()
        listing = self._sources.listing(needs[0].name)
        places = needs[0].allowed
        for need in needs[1:]:
            places &= need.allowed
        for constraint in self._constraints.get(listing.name, ()):
            places &= listing.allowed(constraint.specifier)
        if listing.yanked and not (listing.name in self._exact or any(need.exact for need in needs)):
            places -= listing.yanked
        if listing.has_finals and len(listing.finals) < len(listing.texts):
            early = listing.name in self._early or any(need.prereleases for need in needs)
            places = places if early else places & listing.finals
        return places

    def candidates(self, name: str, extra: str, places: Set[int]) -> Iterator[Candidate]:
        """The candidates at these places, best first."""
        listing = self._sources.listing(name)
        preferred = listing.place(self._prefer.get(name)) if name in self._prefer else -1
        if preferred in places:
            yield listing.candidate(extra, preferred)
        yield from (listing.candidate(extra, place) for place in sorted(places) if place != preferred)

    def best(self, name: str, extra: str, places: Set[int]) -> Candidate:
        """The first of `candidates`; there must be one."""
        listing = self._sources.listing(name)
        preferred = listing.place(self._prefer.get(name)) if name in self._prefer else -1
        return listing.candidate(extra, preferred if preferred in places else min(places))

    def dependencies(self, candidate: Candidate) -> tuple[Need, ...]:
        """What a candidate needs."""
        found = self._dependencies.get(candidate)
        if found is None:
            found = self._dependencies[candidate] = tuple(self._dependencies_of(candidate))
        return found

    def _dependencies_of(self, candidate: Candidate) -> Iterator[Need]:
        if candidate.extra:
            yield same_version(candidate)
        depth = self._depth.get(candidate.key, 0)
        try:
            wishes = candidate.listing.wishes(candidate, lambda: self._read(candidate))
        except OfflineError as error:
            self._sources.miss(candidate, error)
            wishes = (NOT_AT_HAND,)
        except UnreadableError as error:
            self._sources.warn(error)
            wishes = (UNREADABLE,)
        self._sources.prefetch((wish.name, wish.specifier) for wish in wishes if not wish.name.startswith("<"))
        needs = [self._need(self._sources.as_planned(candidate.name, wish), depth + 1) for wish in wishes]
        self._hint(needs)
        yield from needs

    def _read(self, candidate: Candidate) -> tuple[Sequence[Wish], bool]:
        """The wishes in a candidate's METADATA, and whether they stay the same: its content is named by a hash."""
        file, env = candidate.file, self._sources.env
        metadata = self._sources.metadata(file)
        lasting = bool(file.sha256 or file.metadata_sha256 or file.is_local)
        if metadata.requires_python and not env.allows_python(metadata.requires_python):
            return [impossible_python(metadata.requires_python)], lasting
        applying = (r for r in metadata.requires if self._applies(r, candidate.extra))
        return [wish for requirement in applying for wish in wishes_of(requirement)], lasting

    def _applies(self, requirement: Requirement, extra: str) -> bool:
        env = self._sources.env
        if not extra:
            return env.holds(requirement.marker)
        return not env.holds(requirement.marker) and env.holds(requirement.marker, extra)

    def _need(self, wish: Wish, depth: int) -> Need:
        found = self._needs.get(wish)
        if found is None:
            found = self._needs[wish] = need_of(wish, self._supply(wish))
        self._depth.setdefault(found.key, depth)
        return found

    def _supply(self, wish: Wish) -> Listing | None:
        """The listing that a wish is about; None where nothing can satisfy it."""
        if wish.name.startswith("<"):
            return None
        listing = self._sources.listing(wish.name, wish.specifier)
        usable = not wish.url or self._sources.is_url(wish.name, wish.url)
        return listing if usable else None

    def _hint(self, needs: Sequence[Need]) -> None:
        """Hint at the wheels that are likely to be tried for these needs: the first choice of each."""
        by_name: dict[str, list[Need]] = {}
        for need in needs:
            by_name.setdefault(need.name, []).append(need)
        for name, some in by_name.items():
            places = self.places(some)
            if places:
                self._sources.prefetch_metadata(self.best(name, "", places))
