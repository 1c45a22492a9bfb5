"""Local: pages and wheels on this machine's disk, read by path."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from envsolve.errors import OutsideError
from envsolve.index.fitting import SDISTS
from envsolve.index.page import Link
from envsolve.redact import strip_credentials

_FILES = (".whl", *SDISTS)


@lru_cache(maxsize=1024)
def path_of(url: str) -> Path:
    """The path that a file address names."""
    parts = urlsplit(url)
    host = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    if os.name != "nt":
        return Path(unquote(host + parts.path))
    from urllib.request import url2pathname  # brings http and email along: some ten milliseconds

    return Path(url2pathname(host + parts.path))


def page_links(folder: Path) -> list[Link] | None:
    """The links of <folder>/index.html, else the files in the folder itself; None if there is no folder."""
    page = folder / "index.html"
    if page.is_file():
        return read_page(page)
    return folder_links(folder) if folder.is_dir() else None


def folder_links(folder: Path) -> list[Link]:
    """The wheels and source archives that lie in a folder, by name."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(_FILES) and path.is_file())
    except OSError as error:
        raise OutsideError(f"{folder} can't be read: {error.strerror}") from error
    return [Link(filename=path.name, url=path.resolve().as_uri(), size=path.stat().st_size) for path in paths]


def read_page(page: Path) -> list[Link]:
    """The links of a page on disk. Those to files that aren't there are left out."""
    from envsolve.index.page_reader import parse_page

    try:
        body = page.read_bytes()
    except OSError as error:
        raise OutsideError(f"{page} can't be read: {error.strerror}") from error
    base = page.resolve().parent
    links = parse_page(body, "text/html", f"{base.as_uri()}/")
    found = (_on_disk(link, base) for link in links)
    return [link for link in found if link is not None]


def _on_disk(link: Link, base: Path) -> Link | None:
    """A link to a local file, with the file's real place; links to the web stay as they are.

    In a copy of an index a root-relative href ("/whl/cu128/torch-….whl") is meant from some folder above the page.
    """
    if not link.url.startswith("file:"):
        return link
    path = path_of(strip_credentials(link.url))
    inner = path.relative_to(path.anchor)
    for candidate in (path, *(above / inner for above in base.parents)):
        if candidate.is_file():
            return link._replace(url=candidate.as_uri(), size=candidate.stat().st_size)
    return None
