"""PackageIndex: what the resolver asks, over every place that the settings name."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from packaging.version import Version

from envsolve.errors import OutsideError
from envsolve.index.cache import Cache
from envsolve.index.fitting import Target
from envsolve.index.http import Http
from envsolve.index.limits import MAX_CONNECTIONS
from envsolve.index.listing import Listings
from envsolve.index.memory import Memory, Question
from envsolve.index.pages import Pages
from envsolve.index.places import FAMILY, Place, places_for
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.index.snapshot import Snapshot
from envsolve.index.snapshot_file import bundled
from envsolve.redact import strip_credentials
from envsolve.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from envsolve.index.content import Contents
    from envsolve.index.guide import Guide


# A host may turn out to give no ranges: on a guess it is tried with no larger wheel than this.
_SMALL_BYTES = 2 << 20


class PackageIndex:
    """Implements resolve.protocol.Index. Use it in a `with` block, or call `close`.

    `warnings` collects in words what went wrong without stopping the work: places that were passed over because the
    files were found elsewhere.
    """

    def __init__(self, settings: Settings, target: Target, *, sdists: bool = False, build: bool = False) -> None:
        self.warnings: list[str] = []
        self._settings = settings
        self._target = target
        self._http = Http(settings)
        cache = Cache(settings.cache_dir)
        self._snapshot = Snapshot(bundled(), settings, self.warnings) if settings.offline else None
        self._pages = Pages(settings, self._http, cache)
        self._listings = Listings(self._pages, target, self._snapshot, everything=sdists, sdists=build)
        self._cache = cache
        self._memory = Memory(settings, cache, self._listings)
        self._found: dict[tuple[str, str | None, Version | None], tuple[ReleaseFile, ...]] = {}
        # The places that each question was answered from; None where one of them failed.
        self._asked: dict[tuple[str, str | None, Version | None], list[Place] | None] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._coming: dict[tuple[Place, str], Future[list[ReleaseFile]]] = {}
        self._coming_metadata: dict[str, Future[None]] = {}
        self._guide: Guide | None = None
        self._hinting = threading.Lock()

    @cached_property
    def _contents(self) -> Contents:
        from envsolve.index.content import Contents  # not needed where everything is worked out

        return Contents(self._settings, self._http, self._cache, self._snapshot, self.warnings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop what is still being fetched, close every connection, and keep what was learnt."""
        self._guide = None
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._http.close()
        self._memory.save()
        if "_contents" in self.__dict__:
            self._contents.save()

    @property
    def requests(self) -> int:
        """How many requests were made."""
        return self._http.count

    def files(self, name: str, *, variant: str | None = None, version: Version | None = None) -> Sequence[ReleaseFile]:
        """The files of a canonical name, in the order of the places they come from (see `places_for`).

        Of files with the same name the first is kept. With `version` (label included) the places are asked one after
        the other until one has a wheel of exactly this version that may fit, and only such files are given back; a
        place that can't be reached then matters only if no other has one. Raises OutsideError.
        """
        key = (name, variant, version)
        if key not in self._found:
            self._found[key] = tuple(self._files(name, variant, version))
        return self._found[key]

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        """The METADATA of one wheel. Raises OutsideError."""
        coming = self._coming_metadata.pop(file.url, None)
        if coming is not None:
            coming.result()
        return self._contents.metadata(file)

    def hash_file(self, file: ReleaseFile) -> str:
        """The SHA-256 (hex) of a file, by reading all of it once. Raises OutsideError."""
        return self._contents.hash_file(file)

    def recall(self, name: str, target: str, *, variant: str | None = None, version: Version | None = None) -> Any:
        """What `remember` was told about the files that `files` would give back, if those are still the same.

        None where nothing is known. Raises OutsideError as `files` does.
        """
        key = (name, variant, version)
        if key in self._found:
            return None
        return self._memory.recall(self._question(target, key))

    def remember(
        self, name: str, target: str, body: Any, *, variant: str | None = None, version: Version | None = None
    ) -> None:
        """Keep plain data that was worked out from `files` and METADATA for one target, once this is closed."""
        key = (name, variant, version)
        self._memory.keep(self._question(target, key), self._asked.get(key), body)

    def _question(self, target: str, key: tuple[str, str | None, Version | None]) -> Question:
        name, variant, version = key
        places = places_for(name, variant, self._settings)
        return Question(target=target, name=name, which=f"{variant or '-'} {version or '-'}", places=places)

    def look_ahead(self, guide: Guide) -> None:
        """Let the threads go on from pages to METADATA and from there to pages, as the guide says."""
        self._guide = guide

    def prefetch(self, names: Sequence[str]) -> None:
        """Start loading the pages of these names (those of the default index and the extra ones) in threads."""
        for name in names if not self._settings.offline else ():
            for place in places_for(name, None, self._settings):
                self._start(place, name)

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        """Start loading the METADATA of these wheels in threads; errors show when it is asked for."""
        for file in files if not self._settings.offline else ():
            with self._hinting:
                if not file.is_local and file.url not in self._coming_metadata and not self._contents.has(file):
                    self._coming_metadata[file.url] = self._threads().submit(self._preload, file)

    def _start(self, place: Place, name: str) -> None:
        web = place.url.startswith("http")
        with self._hinting:
            if web and (place, name) not in self._coming and not self._pages.is_fresh(place.url):
                self._coming[place, name] = self._threads().submit(self._listed, place, name)

    def _listed(self, place: Place, name: str) -> list[ReleaseFile]:
        """In a thread: the files of a package at a place; METADATA of the likely one comes next."""
        with self._http.pace.turn():
            files = self._listings.files(place, name, None)
        guide = self._guide
        file = guide.file(name, files) if guide is not None else None
        if file is not None and self._is_cheap(file):
            with contextlib.suppress(RuntimeError):  # the pool was closed meanwhile
                self.prefetch_metadata([file])
        return files

    def _is_cheap(self, file: ReleaseFile) -> bool:
        """Whether METADATA may be asked for on a guess: without the whole of a large wheel."""
        offered = file.metadata_sha256 is not None or self._http.gives_ranges(file.url)
        return offered or (file.size is not None and file.size <= _SMALL_BYTES)

    def _preload(self, file: ReleaseFile) -> None:
        """In a thread: METADATA for later; the pages that it leads to come next. Errors show when it is asked for."""
        with self._http.pace.turn():
            self._contents.preload(file)
        with contextlib.suppress(OutsideError, RuntimeError):  # RuntimeError: the pool was closed meanwhile
            if (guide := self._guide) is not None and self._contents.has(file):
                self.prefetch(guide.names(self._contents.metadata(file)))

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # not needed where everything is cached

            from envsolve.index.large_blocks import map_large_blocks

            map_large_blocks()
            self._pool = ThreadPoolExecutor(MAX_CONNECTIONS, thread_name_prefix="index")
        return self._pool

    def _files(self, name: str, variant: str | None, version: Version | None) -> list[ReleaseFile]:
        places = places_for(name, variant, self._settings)
        if variant is None and name not in FAMILY and self._settings.index_strategy == "first":
            return self._first_index(places, name, version)
        return self._ask(places, [], name, variant, version)

    def _first_index(self, places: list[Place], name: str, version: Version | None) -> list[ReleaseFile]:
        """The first index that has the name answers alone: nobody can slip a higher version in through another one.

        Here a place that can't be reached is an error: the next one must not answer in its stead.
        """
        found: list[tuple[Place, list[ReleaseFile]]] = []
        for place in (place for place in places if place.kind == "project"):
            found.append((place, self._load(place, name, None)))
            if found[-1][1]:
                break
        links = [place for place in places if place.kind == "links"]
        return self._ask(links, found, name, None, version)

    def _ask(
        self,
        places: Sequence[Place],
        found: list[tuple[Place, list[ReleaseFile]]],
        name: str,
        variant: str | None,
        version: Version | None,
    ) -> list[ReleaseFile]:
        """Add to what was found what these places have; one that fails matters only if nothing is found at all.

        Where the user's mirror answers and the PyTorch index can't be reached, the mirror is believed, though it has
        nothing: a machine without internet is served by what its mirror holds. `warnings` then says so.
        """
        failed: list[OutsideError] = []
        mirror = strip_credentials(self._settings.mirror).rstrip("/")
        mirrored = False
        for place in places:
            try:
                files = self._load(place, name, variant)
            except OutsideError as error:
                failed.append(error)
                continue
            found.append((place, files))
            mirrored = mirrored or bool(mirror and place.base == mirror)
            if version is not None and any(self._serves(file, version) for file in files):
                break
        merged = _merged([files for _, files in found], version)
        if failed and not merged and not mirrored:
            raise failed[0]
        self.warnings.extend(error.message for error in failed if error.message not in self.warnings)
        self._asked[name, variant, version] = None if failed else [place for place, _ in found]
        return merged

    def _serves(self, file: ReleaseFile, version: Version) -> bool:
        return file.version == version and self._target.fits(file.filename)

    def _load(self, place: Place, name: str, variant: str | None) -> list[ReleaseFile]:
        coming = self._coming.pop((place, name), None) if variant is None else None
        return coming.result() if coming is not None else self._listings.files(place, name, variant)


def _merged(found: list[list[ReleaseFile]], version: Version | None) -> list[ReleaseFile]:
    """All files, the first of each name, and only those of `version` where one is asked for."""
    by_name: dict[str, ReleaseFile] = {}
    for files in found:
        for file in files:
            if version is None or file.version == version:
                by_name.setdefault(file.filename, file)
    return list(by_name.values())


def open_index(
    settings: Settings, *, python: str, platform: str, sdists: bool = False, build: bool = False
) -> PackageIndex:
    """The index for one target: Python "3.12", platform as the rules name it ("linux_x86_64"). Asks nothing yet.

    Source archives are listed only with `sdists`, and then only of packages without a final wheel; with `build` those
    of all packages, for a user who wants them built.
    """
    return PackageIndex(settings, Target(python=python, platform=platform), sdists=sdists, build=build)
