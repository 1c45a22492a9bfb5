"""Listing: the versions of one package that a target can install, newest first, and what is worked out of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.index.release import ReleaseFile, Row, file_of_row, row_of_file
from envsolve.record import record
from envsolve.resolve.wish import Wish


@record
class Dropped:
    """How many files of a package fell out, for which reason."""

    other_platform: int = 0  # wheels for another platform or Python
    other_python: int = 0  # Requires-Python
    sdists: int = 0
    finals: bool = False  # final releases among them

    def __str__(self) -> str:
        reasons = (
            (self.other_platform, "wheel", "for another platform or Python"),
            (self.other_python, "file", "for another Python by its Requires-Python"),
            (self.sdists, "source archive", ""),
        )
        return ", ".join(f"{n} {what}{'s' * (n > 1)} {why}".rstrip() for n, what, why in reasons if n)


class Candidate:
    """One version of a package, or of one of its extras; `place` is its place in the listing (0 is newest)."""

    __slots__ = ("extra", "key", "listing", "name", "place")

    def __init__(self, key: str, name: str, extra: str, place: int, listing: Listing) -> None:
        self.key = key  # "accelerate" or "accelerate[test]"
        self.name = name
        self.extra = extra
        self.place = place
        self.listing = listing

    @property
    def text(self) -> str:
        """The version as text."""
        return self.listing.texts[self.place]

    @property
    def version(self) -> Version:
        return Version(self.text)

    @property
    def files(self) -> tuple[ReleaseFile, ...]:
        """The files of this version, the best first."""
        return self.listing.files(self.place)

    @property
    def is_known(self) -> bool:
        """Whether what it needs is worked out already."""
        return self.listing.knows(self)

    @property
    def file(self) -> ReleaseFile:
        """The file that an installer takes on the target, and whose METADATA counts."""
        return self.files[0]

    def __str__(self) -> str:
        return f"{self.key} {self.text}"


class Listing:
    """The usable versions of one package, as texts: a Version is made of one only when it must be compared.

    `finals` are the places of the final releases, `yanked` those of versions whose files all are; `has_finals`: the
    package has final releases, be they usable here or not. Which versions a specifier allows and what a version needs
    is worked out once; `known` gives it as plain data, which `recalled` takes in a later run: its files are then looked
    up only if some version is needed that wasn't needed before.
    """

    def __init__(self, name: str, texts: Sequence[str], dropped: Dropped) -> None:
        self.name = name
        self.texts = tuple(texts)
        self.dropped = dropped
        self.yanked: frozenset[int] = frozenset()
        self.finals: frozenset[int] = frozenset()
        self.has_finals = False
        self.changed = True
        self._files: dict[int, tuple[ReleaseFile, ...]] = {}
        self._rows: dict[int, list[Row]] = {}
        self._load: Callable[[], Listing] | None = None
        self._allowed: dict[str, frozenset[int]] = {}
        self._wishes: dict[tuple[int, str], tuple[Wish, ...]] = {}
        self._passing: dict[tuple[int, str], tuple[Wish, ...]] = {}
        self._candidates: dict[tuple[int, str], Candidate] = {}
        self._versions: Sequence[Version] = ()  # where they are at hand

    @classmethod
    def of_files(cls, name: str, files: Iterable[ReleaseFile], dropped: Dropped) -> Listing:
        """The listing of these files; those of one version in the order given, the best first.

        Versions that have a source archive only come last: one is built where no version with a wheel will do.
        """
        by_version: dict[Version, list[ReleaseFile]] = {}
        for file in files:
            by_version.setdefault(file.version, []).append(file)
        versions = sorted(by_version, reverse=True)
        versions.sort(key=lambda version: by_version[version][0].is_wheel, reverse=True)  # keeps the order of equals
        listing = cls(name, [str(version) for version in versions], dropped)
        listing._versions = versions
        listing._files = {n: tuple(by_version[version]) for n, version in enumerate(versions)}
        listing.yanked = frozenset(n for n, some in listing._files.items() if all(f.yanked is not None for f in some))
        listing.finals = frozenset(n for n, version in enumerate(versions) if not version.is_prerelease)
        listing.has_finals = bool(listing.finals) or dropped.finals
        return listing

    @property
    def versions(self) -> tuple[Version, ...]:
        """All versions, newest first; those without a wheel after the others."""
        return tuple(map(Version, self.texts))

    def allowed(self, specifier: SpecifierSet | str) -> frozenset[int]:
        """The places of the versions that the specifier contains, pre-releases included."""
        specifier = specifier if isinstance(specifier, str) else str(specifier)
        found = self._allowed.get(specifier)
        if found is None:
            self.changed = True
            found = self._allowed[specifier] = frozenset(self._contained(specifier))
        return found

    def _contained(self, specifier: str) -> Iterable[int]:
        if not specifier:
            return range(len(self.texts))
        contains = SpecifierSet(specifier).contains
        versions: Sequence[Version | str] = self._versions or self.texts
        return (n for n, one in enumerate(versions) if contains(one, prereleases=True))

    def place(self, version: Version | None) -> int:
        """The place of a version; -1 where it is not here."""
        text = str(version)
        if version is None or text in self.texts:
            return -1 if version is None else self.texts.index(text)
        return next((n for n, other in enumerate(self.versions) if other == version), -1)

    def files(self, place: int) -> tuple[ReleaseFile, ...]:
        """The files of a version, the one that an installer takes first."""
        if place in self._rows:
            self._files[place] = tuple(file_of_row(self.name, row) for row in self._rows.pop(place))
        elif place not in self._files and self._load is not None:
            whole, self._load = self._load(), None
            self._files = {self.texts.index(text): whole.files(n) for n, text in enumerate(whole.texts)}
        return self._files[place]

    def candidate(self, extra: str, place: int) -> Candidate:
        """The one Candidate object for this place."""
        found = self._candidates.get((place, extra))
        if found is None:
            key = f"{self.name}[{extra}]" if extra else self.name
            found = self._candidates[place, extra] = Candidate(key, self.name, extra, place, self)
        return found

    def knows(self, candidate: Candidate) -> bool:
        """Whether `wishes` has nothing to work out."""
        return (candidate.place, candidate.extra) in self._wishes

    def wishes(self, candidate: Candidate, work: Callable[[], tuple[Sequence[Wish], bool]]) -> tuple[Wish, ...]:
        """What a candidate needs on the target; `work` finds it out, and whether that will be the same tomorrow."""
        key = (candidate.place, candidate.extra)
        found = self._wishes[key] if key in self._wishes else self._passing.get(key)
        if found is None:
            wishes, lasting = work()
            found = tuple(wishes)
            (self._wishes if lasting else self._passing)[key] = found
            self.changed = self.changed or lasting
        return found

    def known(self) -> dict[str, Any]:
        """What is worked out, as plain data: everything of the versions that were needed so far."""
        needed = sorted({place for place, _ in self._wishes})
        return {
            "texts": self.texts,
            "yanked": _spans(self.yanked),
            "finals": _spans(self.finals),
            "has_finals": self.has_finals,
            "dropped": [self.dropped.other_platform, self.dropped.other_python, self.dropped.sdists],
            "allowed": {specifier: _spans(places) for specifier, places in self._allowed.items()},
            "files": [[place, [row_of_file(file) for file in self.files(place)]] for place in needed],
            "wishes": [[place, extra, wishes] for (place, extra), wishes in self._wishes.items()],
        }

    @classmethod
    def recalled(cls, name: str, known: Mapping[str, Any], load: Callable[[], Listing]) -> Listing:
        """The listing of `known`; `load` makes it anew where more is needed. Raises ValueError for other data."""
        try:
            platform, python, sdists = known["dropped"]
            dropped = Dropped(other_platform=platform, other_python=python, sdists=sdists, finals=known["has_finals"])
            listing = cls(name, known["texts"], dropped)
            listing.yanked = _places(known["yanked"])
            listing.finals = _places(known["finals"])
            listing.has_finals = known["has_finals"]
            listing._allowed = {specifier: _places(spans) for specifier, spans in known["allowed"].items()}
            listing._rows = dict(known["files"])
            listing._wishes = {(n, extra): tuple(Wish(*w) for w in wishes) for n, extra, wishes in known["wishes"]}
        except (KeyError, TypeError) as error:
            raise ValueError(name) from error
        listing.changed = False
        listing._load = load
        return listing


def _spans(places: Iterable[int]) -> list[int]:
    """Places as starts and ends of runs: most specifiers allow one run."""
    spans: list[int] = []
    for place in sorted(places):
        if spans and spans[-1] == place:
            spans[-1] = place + 1
        else:
            spans += [place, place + 1]
    return spans


def _places(spans: Sequence[int]) -> frozenset[int]:
    if len(spans) == 2:
        return frozenset(range(spans[0], spans[1]))
    return frozenset(n for k in range(0, len(spans), 2) for n in range(spans[k], spans[k + 1]))
