"""Listings: the files that one place has of a package, for one target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from envsolve.errors import OfflineError, OutsideError
from envsolve.index.fitting import Target, canonical, has_final
from envsolve.index.local import folder_links, page_links, path_of, read_page
from envsolve.index.page import Choose, Link
from envsolve.index.pages import Pages
from envsolve.index.places import Place, belongs
from envsolve.index.release import ReleaseFile
from envsolve.index.release_file import release_file
from envsolve.index.snapshot import Snapshot
from envsolve.redact import redact


class Listings:
    """Reads places, on the web or on disk. Files for other targets are left out, unless there are no others.

    Of the torch family every Python's files are kept (their pages are short), so that a Python that has none can be
    named as the reason. `everything`: all files are listed as well where no final release has a wheel that may fit, so
    that it is seen what there is; `sdists`: source archives always are. Offline, `snapshot` answers for pages that the
    cache lacks.
    """

    def __init__(
        self,
        pages: Pages,
        target: Target,
        snapshot: Snapshot | None,
        *,
        everything: bool = False,
        sdists: bool = False,
    ) -> None:
        self._pages = pages
        self._target = target
        self._snapshot = snapshot
        self._everything = everything
        self._sdists = sdists
        self._folders: dict[Path, list[Link]] = {}
        self._local_links: dict[tuple[str, str], list[Link]] = {}

    def files(self, place: Place, name: str, variant: str | None) -> list[ReleaseFile]:
        """The files of a package at a place, in the order of the page. Raises OutsideError."""
        return self.release_files(self.links(place, name), place, name, variant)

    def links(self, place: Place, name: str) -> list[Link]:
        """The links to the files of a package at a place. Raises OutsideError."""
        choice = self._choice(any_python=bool(place.base))
        return self._local(place, name, choice) if place.url.startswith("file:") else self._web(place, name, choice)

    def release_files(self, links: Iterable[Link], place: Place, name: str, variant: str | None) -> list[ReleaseFile]:
        """The files behind links of a place, less those of other variants."""
        found = (release_file(link, name, place.source, place.base) for link in links)
        files = [file for file in found if file is not None]
        if not place.base or variant is None:
            return files
        own = [file for file in files if belongs(name, file.folder, variant)]
        return sorted(own, key=lambda file: file.folder != variant)

    def state(self, place: Place, name: str) -> list[str | int]:
        """Names what a place has of a package just now, for `is_unchanged`. Raises OutsideError."""
        if place.url.startswith("file:"):
            return [self._disk_state(place, name), 0]
        try:
            return [self._pages.stamp(place.url), self._pages.mark(place.url)]
        except OfflineError:
            if self._snapshot is None:
                raise
            self._snapshot.answers()
            return [f"snapshot {self._snapshot.date}", 0]

    def is_unchanged(self, place: Place, name: str, state: Sequence[str | int]) -> bool:
        """Whether a place still has what it had in that state. A page that isn't fresh is asked for; may raise."""
        stamp, mark = state
        if self._snapshot is not None and not mark and str(stamp).startswith("snapshot "):
            # As `state` finds it, without the refusal of each page that is not in the cache.
            self._snapshot.answers()
            return stamp == f"snapshot {self._snapshot.date}" and not self._pages.mark(place.url)
        if place.url.startswith("http") and mark:
            return self._pages.is_unchanged(place.url, str(stamp), int(mark))
        return self.state(place, name)[0] == stamp

    def _choice(self, *, any_python: bool) -> Choose:
        def choose(names: Sequence[str]) -> Sequence[int]:
            places = self._target.places(names, any_python=any_python)
            if places and (not self._everything or has_final(names[place] for place in places)):
                return sorted({*places, *_archives(names)}) if self._sdists else places
            return range(len(names))

        return choose

    def _web(self, place: Place, name: str, choice: Choose) -> list[Link]:
        platform = self._target.platform if place.base else self._target.key
        view = f"{platform}{' all' if self._everything else ''}{' sdists' if self._sdists else ''}"
        if place.kind == "links":
            links = self._pages.links(place.url, f"{view} {name}", lambda names: _named_of(names, name, choice))
            if links is None:
                raise OutsideError(f"{redact(place.url)} is not there", hint="look at find-links in your configuration")
            return links
        try:
            return self._pages.links(place.url, view, choice) or []
        except OfflineError:
            links = self._snapshot.links(place, name) if self._snapshot else None
            if links is None:
                raise
            return _chosen(links, choice)

    def _local(self, place: Place, name: str, choice: Choose) -> list[Link]:
        return _chosen(self._on_disk(place, name), choice)

    def _on_disk(self, place: Place, name: str) -> list[Link]:
        """What a place on disk has of a package; read once, so that what is kept of it names what was read."""
        key = (place.url, name)
        if key not in self._local_links:
            self._local_links[key] = self._read_disk(place, name)
        return self._local_links[key]

    def _read_disk(self, place: Place, name: str) -> list[Link]:
        path = path_of(place.url)
        if place.kind == "links":
            return _named(self._flat(path), name)
        links = page_links(path)
        if links is None and place.base:
            # A mirror on disk may hold the wheels of a variant in one folder, without pages.
            links = _named(self._flat(path.parent), name)
        return links or []

    def _disk_state(self, place: Place, name: str) -> str:
        """Name, size and hash of the files on disk, and the time of their last change."""
        return repr([(link, _changed(link)) for link in self._on_disk(place, name)])

    def _flat(self, path: Path) -> list[Link]:
        """The files of a folder, or of a flat page, whatever their package; read once."""
        if path not in self._folders:
            self._folders[path] = read_page(path) if path.is_file() else folder_links(path) if path.is_dir() else []
        return self._folders[path]


def _archives(names: Sequence[str]) -> list[int]:
    return [place for place, name in enumerate(names) if name.endswith((".tar.gz", ".zip"))]


def _changed(link: Link) -> int:
    if not link.url.startswith("file:"):
        return 0
    try:
        return path_of(link.url).stat().st_mtime_ns
    except OSError:
        return 0


def _chosen(links: Sequence[Link], choice: Choose) -> list[Link]:
    return [links[place] for place in choice([link.filename for link in links])]


def _named_of(names: Sequence[str], name: str, choice: Choose) -> list[int]:
    """What `choice` picks of the files of one package."""
    own = [place for place, filename in enumerate(names) if _is_named(filename, name)]
    return [own[place] for place in choice([names[place] for place in own])]


def _named(links: list[Link], name: str) -> list[Link]:
    """The links to files of one package, told from their names."""
    return [link for link in links if _is_named(link.filename, name)]


def _is_named(filename: str, name: str) -> bool:
    start = name.partition("-")[0]
    if filename[: len(start)].lower() != start:
        return False
    if filename.endswith(".whl"):
        return canonical(filename.split("-", 1)[0]) == name
    return any(canonical(filename[:n]) == name for n, character in enumerate(filename) if character == "-")
