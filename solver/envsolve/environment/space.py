"""Space: whether a download fits, before gigabytes are fetched."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Literal

from envsolve.environment.child import plain_environment
from envsolve.errors import OutsideError
from envsolve.record import record

# Wheels are compressed: torch and the CUDA libraries unpack to about twice their size.
_UNPACKED = 2.0


@record
class Need:
    """A folder that will take up bytes, and what for ("the environment")."""

    folder: Path
    what: str
    size: int


def needs(
    download: int, environment: Path, tool: Literal["uv", "pip", "pip-sync"], *, kept: int = 0, keep: Path | None = None
) -> tuple[Need, ...]:
    """Where an install of so many bytes takes up space; `kept` bytes of them are first put into the folder `keep`.

    uv unpacks into its cache and links from there, or copies when the environment is on another file system; pip
    downloads to the temporary folder, keeps a copy in its cache, and unpacks into the environment.
    """
    wheels = (Need(folder=keep, what="downloaded wheels", size=kept),) if keep and kept else ()
    return (*_needs(download, download - kept if keep else download, environment, tool), *wheels)


def _needs(size: int, fetched: int, environment: Path, tool: str) -> tuple[Need, ...]:
    """`fetched` of the `size` bytes are downloaded by the tool itself."""
    unpacked = int(size * _UNPACKED)
    if tool == "uv":
        cache = Path(os.environ.get("UV_CACHE_DIR") or _cache("uv"))
        if _device(cache) == _device(environment):
            return (Need(folder=environment, what="the environment", size=unpacked),)
        return (
            Need(folder=environment, what="the environment", size=unpacked),
            Need(folder=cache, what="uv's cache", size=unpacked),
        )
    import tempfile

    return (
        Need(folder=environment, what="the environment", size=unpacked),
        Need(folder=Path(os.environ.get("PIP_CACHE_DIR") or _cache("pip")), what="pip's cache", size=fetched),
        Need(folder=Path(tempfile.gettempdir()), what="temporary files", size=fetched),
    )


def check_space(wanted: tuple[Need, ...]) -> None:
    """Raises OutsideError with the numbers when a file system has less free than what goes there."""
    together: dict[int, list[Need]] = defaultdict(list)
    for need in wanted:
        together[_device(need.folder)].append(need)
    for group in together.values():
        folder, size = group[0].folder, sum(need.size for need in group)
        free = shutil.disk_usage(_existing(folder)).free
        if free < size:
            raise OutsideError(
                f"not enough disk space at {folder}: {' and '.join(need.what for need in group)} would take about "
                f"{readable(size)}, {readable(free)} are free",
                hint="free some, or move them: ENVSOLVE_HOME (environments), UV_CACHE_DIR, PIP_CACHE_DIR, TMPDIR",
            )


def _cache(tool: str) -> Path:
    base = plain_environment().get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / tool


def _device(path: Path) -> int:
    return _existing(path).stat().st_dev


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def is_writable(path: Path) -> bool:
    """Whether a file can be put into a folder, which may still have to be made."""
    return os.access(_existing(path), os.W_OK | os.X_OK)


def readable(size: int) -> str:
    """A size in bytes for people."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
