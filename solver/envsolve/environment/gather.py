"""Gather: which files of a lock envsolve brings here itself, before the installer has its turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from envsolve.environment.failure import OtherBytes
from envsolve.environment.handed import reachable
from envsolve.environment.progress import Progress
from envsolve.environment.sizes import Download
from envsolve.environment.wanted import Wanted, is_damaged, is_kept, kept
from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.settings import Settings

# Smaller files are quicker in an installer's own hands, and nothing is lost when they are fetched once more.
LARGE = 10_000_000


def large_files(lock: Lock, known: Download, settings: Settings, *, here: Mapping[str, Path]) -> tuple[Wanted, ...]:
    """The large files with an address, but for those that are `here`; offline only those that an earlier run kept."""
    found = (
        Wanted(filename=file.filename, url=reachable(file.url, settings), sha256=file.sha256, size=size)
        for package in lock.packages
        for file in _the_one(package)
        if (size := file.size or known.asked.get(file.sha256)) and size >= LARGE and file.sha256 not in here
        if file.url.startswith(("http://", "https://"))
    )
    return tuple(one for one in found if not settings.offline or is_kept(one, settings))


def missing(wanted: tuple[Wanted, ...], settings: Settings) -> tuple[Wanted, ...]:
    """Those that no earlier run has kept."""
    return tuple(one for one in wanted if not is_kept(one, settings))


def gather(lock: Lock, wanted: tuple[Wanted, ...], settings: Settings, *, progress: Progress) -> dict[str, Path]:
    """Bring these files here, by their SHA-256. What can't be had is left to the installer, which knows other places.

    What was kept is not hashed again: the installer does it (see `drop_damaged`).

    Raises OtherBytes where a file that has one address only isn't the lock's; OSError when the disk is full.
    """
    from envsolve.environment.fetch import fetch  # where everything is small, nothing is fetched

    fetched = fetch(wanted, settings, progress=progress, prove_kept=False)
    by_address = {file.sha256 for package in lock.packages if package.direct for file in package.files}
    for digest, error in fetched.failed.items():
        if isinstance(error, OtherBytes) and digest in by_address:
            raise error
    return dict(fetched.files)


def drop_damaged(wanted: tuple[Wanted, ...], settings: Settings) -> bool:
    """Remove the kept files whose bytes have changed since; whether there were any."""
    damaged = [one for one in wanted if is_kept(one, settings) and is_damaged(one, settings)]
    for one in damaged:
        kept(one, settings).unlink(missing_ok=True)
    return bool(damaged)


def _the_one(package: LockedPackage) -> Iterator[LockedFile]:
    """The file that will be installed, where that is known; a file that an index sends by name has several places."""
    if len(package.files) == 1:
        yield package.files[0]
    else:
        yield from (file for file in package.files if package.taken and file.filename == package.taken)
