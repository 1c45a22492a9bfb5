"""Listing: the versions of one package that a target can install, newest first, and what fell out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.index.release import ReleaseFile
from envsolve.resolve.target_env import TargetEnv


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One version of a package, or of one of its extras; `order` is its place in the listing (0 is newest)."""

    key: str  # "accelerate" or "accelerate[test]"
    name: str
    extra: str
    version: Version
    order: int
    files: tuple[ReleaseFile, ...]  # best first

    @property
    def file(self) -> ReleaseFile:
        """The file that an installer takes on the target, and whose METADATA counts."""
        return self.files[0]

    def __str__(self) -> str:
        return f"{self.key} {self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
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


class Listing:
    """The usable versions of one package. Which versions a specifier allows is worked out once and then looked up.

    `finals` are the places of the final releases; `has_finals`: the package has some, be they usable here or not.
    """

    __slots__ = ("_allowed", "_candidates", "_files", "dropped", "finals", "has_finals", "name", "versions", "yanked")

    def __init__(self, name: str, files: Iterable[ReleaseFile], dropped: Dropped) -> None:
        by_version: dict[Version, list[ReleaseFile]] = {}
        for file in files:
            by_version.setdefault(file.version, []).append(file)
        self.name = name
        self.dropped = dropped
        self.versions: tuple[Version, ...] = tuple(sorted(by_version, reverse=True))
        self._files = [tuple(by_version[version]) for version in self.versions]
        self.yanked = frozenset(n for n, files in enumerate(self._files) if all(f.yanked is not None for f in files))
        self.finals = frozenset(n for n, version in enumerate(self.versions) if not version.is_prerelease)
        self.has_finals = bool(self.finals) or dropped.finals
        self._allowed: dict[SpecifierSet, frozenset[int]] = {}
        self._candidates: dict[tuple[str, int], Candidate] = {}

    def allowed(self, specifier: SpecifierSet) -> frozenset[int]:
        """The places of the versions that the specifier contains, pre-releases included."""
        found = self._allowed.get(specifier)
        if found is None:
            found = frozenset(n for n, v in enumerate(self.versions) if specifier.contains(v, prereleases=True))
            self._allowed[specifier] = found
        return found

    def place(self, version: Version | None) -> int:
        """The place of a version; -1 where it is not here."""
        return self.versions.index(version) if version in self.versions else -1

    def candidate(self, extra: str, order: int) -> Candidate:
        """The one Candidate object for this place."""
        found = self._candidates.get((extra, order))
        if found is None:
            key = f"{self.name}[{extra}]" if extra else self.name
            found = Candidate(key, self.name, extra, self.versions[order], order, self._files[order])
            self._candidates[extra, order] = found
        return found


def fitting_listing(name: str, files: Sequence[ReleaseFile], env: TargetEnv) -> Listing:
    """The Listing of the wheels that install on the target, the best file of each version first."""
    ranked: list[tuple[int, ReleaseFile]] = []
    platform = python = sdists = 0
    for file in files:
        rank = env.best_rank(file.tags)
        if not file.is_wheel:
            sdists += 1
        elif rank is None:
            platform += 1
        elif not env.allows_python(file.requires_python):
            python += 1
        else:
            ranked.append((rank, file))
    ranked.sort(key=_preference, reverse=True)
    finals = len(ranked) < len(files) and any(not file.version.is_prerelease for file in files)
    dropped = Dropped(other_platform=platform, other_python=python, sdists=sdists, finals=finals)
    return Listing(name, (file for _, file in ranked), dropped)


def planned_listing(name: str, label: Version, folder: str, files: Sequence[ReleaseFile], env: TargetEnv) -> Listing:
    """The Listing of the one planned version of a torch-family package: its exact label, +variant included.

    Unlabelled wheels also lie in the root of the index, beside those of the variant: a root file is taken only where
    the variant's own folder (or find-links) has none. Of files that fit equally well the index's order decides.
    """
    exact = [file for file in files if file.version == label]
    listing = fitting_listing(name, exact, env)
    if not listing.versions:
        return listing
    fitting = listing.candidate("", 0).files
    own = [file for file in fitting if file.folder in (None, folder)] or fitting
    # One wheel is pinned by its address: the best of the folder's.
    return Listing(name, own[:1], listing.dropped)


def _preference(ranked: tuple[int, ReleaseFile]) -> tuple[bool, int, tuple[int, str] | tuple[()]]:
    rank, file = ranked
    return (file.yanked is None, -rank, file.build)
