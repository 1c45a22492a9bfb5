"""Sizes: how much an install fetches, asked for where the index doesn't say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from envsolve.environment.handed import reachable
from envsolve.environment.wanted import size_kept
from envsolve.errors import OutsideError
from envsolve.lock.lock import Lock, LockedFile
from envsolve.record import field, record, replace
from envsolve.settings import Settings

if TYPE_CHECKING:
    from envsolve.index.http import Http

# Only a courtesy: what is slower than this is left to the installer.
_SECONDS = 5.0


@record
class Download:
    """The bytes of the files that will be fetched; `complete` is False when some are not known and not in the sum.

    `asked` holds the sizes that the lock doesn't say, by the SHA-256 of the file.
    """

    size: int
    complete: bool
    asked: Mapping[str, int] = field(default_factory=dict, compare=False)


def download(lock: Lock, settings: Settings) -> Download:
    """What an install of the lock fetches at most: the largest file of each package, since one of them is taken.

    The PyTorch index says no sizes, and its files are the large ones: their addresses are asked, unless an earlier run
    kept the file. Whatever can't be learnt soon is left out; the installer will say what is wrong with such an address.
    """
    known = [_known(file.size for file in package.files) for package in lock.packages]
    unknown = [package for package, size in zip(lock.packages, known, strict=True) if size is None and package.direct]
    found = list(_asked([package.files[0] for package in unknown], settings))
    complete = known.count(None) == len(found)
    asked = {package.files[0].sha256: size for package, size in zip(unknown, found, strict=False)}
    return Download(size=sum(size or 0 for size in known) + sum(found), complete=complete, asked=asked)


def _known(sizes: Iterable[int | None]) -> int | None:
    found = list(sizes)
    return None if None in found or not found else max(size or 0 for size in found)


def _asked(files: list[LockedFile], settings: Settings) -> Iterator[int]:
    """The sizes of the files, up to the first whose address doesn't answer."""
    if not files:
        return
    from envsolve.index.http import Http

    hasty = replace(settings, retries=0, timeout=min(settings.timeout, _SECONDS))
    with closing(Http(hasty)) as http:
        for file in files:
            size = size_kept(file.sha256, file.filename, settings)
            if size is None:
                size = _elsewhere(reachable(file.url, settings), settings, http)
            if size is None:
                return
            yield size


def _elsewhere(url: str, settings: Settings, http: Http) -> int | None:
    if url.startswith("file:"):
        return _on_disk(url)
    return None if settings.offline else _served(url, http)


def _on_disk(url: str) -> int | None:
    path = Path(unquote(urlsplit(url).path))
    return path.stat().st_size if path.is_file() else None


def _served(url: str, http: Http) -> int | None:
    try:
        reply = http.get(url, method="HEAD", passes=(405, 501))
    except OutsideError:
        return None
    length = reply.headers.get("content-length", "")
    return int(length) if reply.status == 200 and length.isdecimal() else None
