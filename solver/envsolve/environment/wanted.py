"""Wanted: a file that envsolve fetches itself, and where it is kept once it is here."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from envsolve.record import record
from envsolve.settings import Settings


@record
class Wanted:
    """A file to fetch: its name, where it is reached from here, its SHA-256 (hex) and its size where that is known."""

    filename: str
    url: str
    sha256: str
    size: int | None = None


def wheels_folder(settings: Settings) -> Path:
    """Where whole and partial wheels are kept."""
    return settings.cache_dir / "wheels"


def kept(wanted: Wanted, settings: Settings) -> Path:
    """Where the whole file is, or will be."""
    return wheels_folder(settings) / wanted.sha256 / wanted.filename


def is_kept(wanted: Wanted, settings: Settings) -> bool:
    """Whether a whole file is there, as far as its size tells; it was hashed when it came."""
    size = size_kept(wanted.sha256, wanted.filename, settings)
    return size is not None and wanted.size in (None, size)


def size_kept(sha256: str, filename: str, settings: Settings) -> int | None:
    """The bytes of a whole file that is kept; None where there is none."""
    try:
        return (wheels_folder(settings) / sha256 / filename).stat().st_size
    except OSError:
        return None


def is_damaged(wanted: Wanted, settings: Settings) -> bool:
    """Whether the bytes of a file that is kept are no longer those that it was kept with."""
    from hashlib import file_digest  # seldom wanted

    with kept(wanted, settings).open("rb") as file:
        return file_digest(file, "sha256").hexdigest() != wanted.sha256


def mark_used(path: Path) -> None:
    """Note on its folder that a kept file was used now, for `envsolve cache prune`.

    Not on the file itself: uv tells by a file's times whether what it has unpacked is still that.
    """
    with suppress(OSError):
        os.utime(path.parent)
