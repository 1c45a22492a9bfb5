"""Listings: the files that one place has of a package, for one target."""

from __future__ import annotations

from pathlib import Path

from envsolve.errors import OutsideError
from envsolve.index.configuration.redact import redact
from envsolve.index.fitting import SDISTS, Target, canonical
from envsolve.index.local import folder_links, page_links, path_of, read_page
from envsolve.index.page import Link
from envsolve.index.pages import Choose, Pages
from envsolve.index.places import Place, belongs
from envsolve.index.release import ReleaseFile
from envsolve.index.release_file import release_file


class Listings:
    """Reads places, on the web or on disk. Files for other targets are left out, unless there are no others.

    Of the torch family every Python's files are kept (their pages are short), so that a Python that has none can be
    named as the reason. Wheels only, unless `sdists`.
    """

    def __init__(self, pages: Pages, target: Target, *, sdists: bool = False) -> None:
        self._pages = pages
        self._target = target
        self._sdists = sdists
        self._folders: dict[Path, list[Link]] = {}

    def files(self, place: Place, name: str, variant: str | None) -> list[ReleaseFile]:
        """The files of a package at a place, in the order of the page. Raises OutsideError."""
        choice = self._choice(name, whole_pythons=bool(place.base))
        links = self._local(place, name, choice) if place.url.startswith("file:") else self._web(place, name, choice)
        found = (release_file(link, name, place.source, place.base) for link in links)
        files = [file for file in found if file is not None]
        if not place.base or variant is None:
            return files
        own = [file for file in files if belongs(name, file.folder, variant)]
        return sorted(own, key=lambda file: file.folder != variant)

    def _choice(self, name: str, *, whole_pythons: bool) -> Choose:
        fits = self._target.fits_platform if whole_pythons else self._target.fits

        def choose(links: list[Link]) -> list[Link]:
            kept = [link for link in links if fits(link.filename) or (self._sdists and link.filename.endswith(SDISTS))]
            return kept or links

        return choose

    def _web(self, place: Place, name: str, choice: Choose) -> list[Link]:
        platform = self._target.platform if place.base else self._target.key
        view = f"{platform}{' sdists' if self._sdists else ''}"
        if place.kind == "links":
            view = f"{view} {name}"
            links = self._pages.links(place.url, view, lambda links: choice(_named(links, name)))
            if links is None:
                raise OutsideError(f"{redact(place.url)} is not there", hint="look at find-links in your configuration")
            return links
        return self._pages.links(place.url, view, choice) or []

    def _local(self, place: Place, name: str, choice: Choose) -> list[Link]:
        path = path_of(place.url)
        if place.kind == "links":
            return choice(_named(self._flat(path), name))
        links = page_links(path)
        if links is None and place.base:
            # A mirror on disk may hold the wheels of a variant in one folder, without pages.
            links = _named(self._flat(path.parent), name)
        return choice(links or [])

    def _flat(self, path: Path) -> list[Link]:
        """The files of a folder, or of a flat page, whatever their package; read once."""
        if path not in self._folders:
            self._folders[path] = read_page(path) if path.is_file() else folder_links(path) if path.is_dir() else []
        return self._folders[path]


def _named(links: list[Link], name: str) -> list[Link]:
    """The links to files of one package, told from their names."""
    start = name.split("-")[0].lower()
    near = [link for link in links if link.filename[: len(start)].lower() == start]
    return [link for link in near if _is_named(link.filename, name)]


def _is_named(filename: str, name: str) -> bool:
    if filename.endswith(".whl"):
        return canonical(filename.split("-", 1)[0]) == name
    return any(canonical(filename[:n]) == name for n, character in enumerate(filename) if character == "-")
