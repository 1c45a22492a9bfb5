"""Sources: which index answers for which package of a plan, so that no index can supply what is not its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.errors import RefusedError
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.resolve.candidates import Dropped, Listing, fitting_listing, planned_listing
from envsolve.resolve.plan import Plan
from envsolve.resolve.protocol import Index
from envsolve.resolve.request import TRIO
from envsolve.resolve.row import PlannedPackage
from envsolve.resolve.target_env import TargetEnv
from envsolve.resolve.url_file import url_file

# The CUDA libraries and Triton: from the default Python index, or else from the variant's folder, which lists them too.
_EITHER = ("triton", "pytorch-triton", "nvidia-", "cuda-")


class PlannedFileMissing(RefusedError):
    """A file of the plan is not on the index: `row` is (package, public version, variant), for the next plan."""

    def __init__(self, package: PlannedPackage, variant: str, dropped: Dropped) -> None:
        label = package.label(variant)
        detail = f" ({dropped})" if str(dropped) else ""
        super().__init__(f"{package.name} {label} is not on the index for this target{detail}")
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
        self._plan = plan
        self._index = index
        self._planned = {package.name: package for package in plan.packages}
        self._urls: dict[str, Requirement] = {canonicalize_name(r.name): r for r in urls}
        self._listings: dict[str, Listing] = {}
        self._metadata: dict[str, WheelMetadata] = {}
        self._from_variant: set[str] = set()
        self._prefetched: set[str] = set()

    @property
    def _folder(self) -> str | None:
        return None if self._plan.request.source == "pypi" else self._plan.build.folder or self._plan.variant

    def is_planned(self, name: str) -> bool:
        """Whether the plan pins this package."""
        return name in self._planned

    def is_url(self, name: str, url: str) -> bool:
        """Whether the user named this address for this package; an address in a package's METADATA is not followed."""
        asked = self._urls.get(name)
        return asked is not None and asked.url == url

    def is_direct(self, name: str) -> bool:
        """Whether a lock must name the file's address: the default Python index can't supply it."""
        return name in self._from_variant or name in self._urls

    def prefetch(self, names: Sequence[str]) -> None:
        """Hint that these names of the default index come next; each is passed on once."""
        fresh = [n for n in names if n not in self._prefetched and n not in self._planned and n not in self._urls]
        if fresh:
            self._prefetched.update(fresh)
            self._index.prefetch(fresh)

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        """Hint that the METADATA of these wheels comes next."""
        fresh = [file for file in files if file.url not in self._metadata]
        if fresh:
            self._index.prefetch_metadata(fresh)

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        """The METADATA of one wheel."""
        found = self._metadata.get(file.url)
        if found is None:
            found = self._metadata[file.url] = self._index.metadata(file)
        return found

    def listing(self, name: str, specifier: SpecifierSet | None = None) -> Listing:
        """The versions of a package. Raises PlannedFileMissing, CompanionWanted or OutsideError."""
        found = self._listings.get(name)
        if found is None:
            found = self._listings[name] = self._load(name, specifier)
        return found

    def _load(self, name: str, specifier: SpecifierSet | None) -> Listing:
        if name in self._planned:
            return self._load_planned(self._planned[name])
        if name in TRIO:
            raise CompanionWanted(Requirement(f"{name}{specifier or ''}"))
        if name in self._urls:
            return Listing(name, [url_file(self._urls[name])], Dropped())
        listing = fitting_listing(name, self._index.files(name), self.env)
        if self._folder and name.startswith(_EITHER) and not listing.allowed(specifier or SpecifierSet()):
            return self._load_from_variant(name, self._folder, _pinned(specifier))
        return listing

    def _load_from_variant(self, name: str, folder: str, version: Version | None) -> Listing:
        self._from_variant.add(name)
        return fitting_listing(name, self._index.files(name, variant=folder, version=version), self.env)

    def _load_planned(self, package: PlannedPackage) -> Listing:
        if package.name in self._urls:
            return Listing(package.name, [url_file(self._urls[package.name])], Dropped())
        folder = self._folder
        label = Version(package.label(self._plan.variant))
        files = self._index.files(package.name, variant=folder, version=label)
        listing = planned_listing(package.name, label, folder or "", files, self.env)
        if not listing.versions:
            raise PlannedFileMissing(package, self._plan.variant, listing.dropped)
        if folder:
            self._from_variant.add(package.name)
        return listing

    def as_planned(self, parent: str, requirement: Requirement) -> Requirement:
        """A requirement as the plan sees it: between members of the torch family the rules outrank METADATA.

        A companion's METADATA may pin another torch than the one that it belongs to by the rules, or none.
        """
        name = canonicalize_name(requirement.name)
        if parent in self._planned and name in self._planned:
            return Requirement(f"{name}[{','.join(sorted(requirement.extras))}]" if requirement.extras else name)
        return requirement


def _pinned(specifier: SpecifierSet | None) -> Version | None:
    """The one version that a specifier names, as torch's METADATA does for its CUDA libraries and Triton."""
    pins = [s.version for s in specifier or () if s.operator == "=="]
    return Version(pins[0]) if len(pins) == 1 and not pins[0].endswith(".*") else None
