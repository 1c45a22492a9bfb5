"""Sizes: how much an install fetches, asked for where the index doesn't say."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from envsolve.environment.handed import reachable
from envsolve.errors import OutsideError
from envsolve.index.http import Http
from envsolve.lock.lock import Lock, LockedPackage
from envsolve.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The bytes of the files that will be fetched; `complete` is False when some are not known and not in the sum."""

    size: int
    complete: bool


def download(lock: Lock, settings: Settings) -> Download:
    """What an install of the lock fetches at most: the largest file of each package, since one of them is taken.

    The PyTorch index says no sizes, and its files are the large ones: their addresses are asked. Whatever can't be
    learnt is left out; the installer will say what is wrong with such an address.
    """
    with closing(Http(settings)) as http:
        sizes = [_size(package, http, settings) for package in lock.packages]
    return Download(size=sum(size or 0 for size in sizes), complete=None not in sizes)


def _size(package: LockedPackage, http: Http, settings: Settings) -> int | None:
    known = _known(file.size for file in package.files)
    if known is not None or not package.direct:
        return known
    url = reachable(package.files[0].url, settings)
    if url.startswith("file:"):
        path = Path(unquote(urlsplit(url).path))
        return path.stat().st_size if path.is_file() else None
    return None if settings.offline else _asked(url, http)


def _known(sizes: Iterable[int | None]) -> int | None:
    found = list(sizes)
    return None if None in found or not found else max(size or 0 for size in found)


def _asked(url: str, http: Http) -> int | None:
    try:
        reply = http.get(url, method="HEAD", passes=(405, 501))
    except OutsideError:
        return None
    length = reply.headers.get("content-length", "")
    return int(length) if reply.status == 200 and length.isdecimal() else None
