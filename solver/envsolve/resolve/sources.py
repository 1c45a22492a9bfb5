"""Sources: which index answers for which package of a plan, so that no index can supply what is not its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.errors import OfflineError, OutsideError, RefusedError
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.resolve.ahead import Ahead
from envsolve.resolve.candidates import fitting_listing, planned_listing
from envsolve.resolve.listing import Candidate, Dropped, Listing
from envsolve.resolve.plan import Plan
from envsolve.resolve.protocol import Index, LookingAhead, Remembering
from envsolve.resolve.request import TRIO
from envsolve.resolve.row import PlannedPackage
from envsolve.resolve.target_env import TargetEnv
from envsolve.resolve.url_file import url_file
from envsolve.resolve.wish import Wish

# The CUDA libraries and Triton: from the default Python index, or else from the variant's folder, which lists them too.
_EITHER = ("triton", "pytorch-triton", "nvidia-", "cuda-")


class PlannedFileMissing(RefusedError):
    """A file of the plan is not on the index: `row` is (package, public version, variant), for the next plan."""

    def __init__(self, package: PlannedPackage, variant: str, dropped: Dropped, why: str = "") -> None:
        detail = f" ({dropped})" if str(dropped) else ""
        what = f"{package.name} {package.label(variant)}"
        super().__init__(f"{what}: {why}" if why else f"{what} is not on the index for this target{detail}")
        self.row = (package.name, str(package.version), variant)


class CompanionWanted(RefusedError):
    """A package needs a member of the torch family that the plan does not hold: it must be planned, not picked."""

    def __init__(self, requirement: Requirement) -> None:
        super().__init__(f"{requirement} is needed and not planned", hint=f"envsolve lock {requirement.name}")
        self.requirement = requirement


class Sources:
    """The listings and the metadata that one plan may use. Each page and each METADATA is asked for once."""

    def __init__(self, plan: Plan, index: Index, env: TargetEnv, urls: Iterable[Requirement] = ()) -> None:
        self.env = env
        self._target = env.key
        self._plan = plan
        self._index = index
        self._memory = index if isinstance(index, Remembering) else None
        self.missed: dict[Candidate, OfflineError] = {}
        self._kept: list[tuple[Listing, str | None, Version | None]] = []
        self._planned = {package.name: package for package in plan.packages}
        self._urls: dict[str, Requirement] = {canonicalize_name(r.name): r for r in urls}
        self._wheels: dict[str, Requirement] = {canonicalize_name(r.name): r for r in plan.wheels}
        self._listings: dict[str, Listing] = {}
        self._metadata: dict[str, WheelMetadata] = {}
        self._from_variant: set[str] = set()
        self._prefetched: set[str] = set()
        self._ahead: Ahead | None = None

    @property
    def _folder(self) -> str | None:
        return None if self._plan.request.source == "pypi" else self._plan.build.folder or self._plan.variant

    def is_planned(self, name: str) -> bool:
        """Whether the plan pins this package."""
        return name in self._planned

    def has_address(self, name: str) -> bool:
        """Whether the user names the address of this package's file."""
        return name in self._urls

    def is_url(self, name: str, url: str) -> bool:
        """Whether the user named this address for this package; an address in a package's METADATA is not followed."""
        asked = self._urls.get(name)
        return asked is not None and asked.url == url

    def is_direct(self, name: str) -> bool:
        """Whether a lock must name the file's address: the default Python index can't supply it."""
        return name in self._from_variant or name in self._urls

    def look_ahead(self, constraints: Sequence[Requirement], prefer: Mapping[str, Version] | None) -> None:
        """Let the index's threads go on from what the hints bring."""
        if isinstance(self._index, LookingAhead):
            elsewhere = {*TRIO, *self._planned, *self._urls, *self._wheels}
            self._ahead = Ahead(self.env, elsewhere, constraints, prefer)
            self._index.look_ahead(self._ahead)

    def prefetch(self, expected: Iterable[tuple[str, str]]) -> None:
        """Hint that these names of the default index come next, each with a specifier; a name is passed on once."""
        fresh = []
        for n, specifier in expected:
            if n not in self._prefetched and n not in self._planned and n not in self._urls:
                fresh.append(n)
                if self._ahead is not None:
                    self._ahead.expect(n, specifier)
        if fresh:
            self._prefetched.update(fresh)
            self._index.prefetch(fresh)

    def prefetch_metadata(self, candidate: Candidate) -> None:
        """Hint that the METADATA of this candidate comes next."""
        if not candidate.is_known and candidate.file.url not in self._metadata:
            self._index.prefetch_metadata([candidate.file])

    def miss(self, candidate: Candidate, error: OfflineError) -> None:
        """Note a candidate whose METADATA can't be had offline. Raises PlannedFileMissing if it is a planned one."""
        if candidate.name in self._planned:
            package = self._planned[candidate.name]
            raise PlannedFileMissing(
                package, self._plan.variant, Dropped(), "its METADATA is not at hand offline"
            ) from error
        self.missed.setdefault(candidate, error)

    def warn(self, error: OutsideError) -> None:
        """Note why a version was passed over."""
        if error.message not in self._index.warnings:
            self._index.warnings.append(error.message)

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        """The METADATA of one wheel."""
        found = self._metadata.get(file.url)
        if found is None:
            found = self._metadata[file.url] = self._index.metadata(file)
        return found

    def listing(self, name: str, specifier: str = "") -> Listing:
        """The versions of a package. Raises PlannedFileMissing, CompanionWanted or OutsideError."""
        found = self._listings.get(name)
        if found is None:
            found = self._listings[name] = self._load(name, specifier)
        return found

    def remember(self) -> None:
        """Let the index keep what was worked out in this run and wasn't known before."""
        for listing, variant, version in self._kept if self._memory else ():
            if listing.changed and self._memory:
                known = listing.known()
                self._memory.remember(listing.name, self._target, known, variant=variant, version=version)
                listing.changed = False

    def _load(self, name: str, specifier: str) -> Listing:
        if name in self._planned:
            return self._load_planned(self._planned[name])
        if name in TRIO:
            raise CompanionWanted(Requirement(f"{name}{specifier}"))
        if name in self._urls:
            return Listing.of_files(name, [url_file(self._urls[name])], Dropped())
        listing = self._worked_out(name, partial(fitting_listing, name, env=self.env))
        if name in self._wheels and not listing.allowed(specifier):
            self._from_variant.add(name)
            return Listing.of_files(name, [url_file(self._wheels[name])], listing.dropped)
        if self._folder and name.startswith(_EITHER) and not listing.allowed(specifier):
            return self._load_from_variant(name, self._folder, _pinned(specifier))
        return listing

    def _load_from_variant(self, name: str, folder: str, version: Version | None) -> Listing:
        self._from_variant.add(name)
        return self._worked_out(name, partial(fitting_listing, name, env=self.env), folder, version)

    def _load_planned(self, package: PlannedPackage) -> Listing:
        if package.name in self._urls:
            return Listing.of_files(package.name, [url_file(self._urls[package.name])], Dropped())
        folder = self._folder
        label = Version(package.label(self._plan.variant))
        work = partial(planned_listing, package.name, label, folder or "", env=self.env)
        listing = self._worked_out(package.name, work, folder, label)
        if not listing.texts:
            raise PlannedFileMissing(package, self._plan.variant, listing.dropped)
        if folder:
            self._from_variant.add(package.name)
        return listing

    def _worked_out(
        self,
        name: str,
        work: Callable[[Sequence[ReleaseFile]], Listing],
        variant: str | None = None,
        version: Version | None = None,
    ) -> Listing:
        """The listing that `work` makes of the files of a package, or what the index remembers of it."""

        def load() -> Listing:
            return work(self._index.files(name, variant=variant, version=version))

        known = self._memory.recall(name, self._target, variant=variant, version=version) if self._memory else None
        try:
            listing = Listing.recalled(name, known, load) if known is not None else load()
        except ValueError:
            listing = load()
        self._kept.append((listing, variant, version))
        return listing

    def as_planned(self, parent: str, wish: Wish) -> Wish:
        """A wish as the plan sees it: between members of the torch family the rules outrank METADATA.

        A companion's METADATA may pin another torch than the one that it belongs to by the rules, or none.
        """
        if parent in self._planned and wish.name in self._planned:
            return Wish(wish.name, wish.extra, "", wish.name, exact=False, bounded=False, prereleases=False)
        return wish


def _pinned(specifier: str) -> Version | None:
    """The one version that a specifier names, as torch's METADATA does for its CUDA libraries and Triton."""
    pins = [s.version for s in SpecifierSet(specifier) if s.operator == "=="]
    return Version(pins[0]) if len(pins) == 1 and not pins[0].endswith(".*") else None
