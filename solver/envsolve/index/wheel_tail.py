"""METADATA out of a wheel: a wheel is a zip, whose table of contents is at its end, so that a few ranges will do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from envsolve.errors import OutsideError
from envsolve.index.fitting import canonical
from envsolve.index.release import ReleaseFile
from envsolve.index.seekable import Seekable
from envsolve.index.zip_entry import OneEntry, entries_named

if TYPE_CHECKING:
    import zipfile

# One request of this many bytes holds the table of contents and METADATA of most wheels.
TAIL_BYTES = 64 * 1024
_STEP = 16 * 1024
# A local header: 30 bytes, the name, and extra fields.
_HEADER_SLACK = 1024

Fetch = Callable[[int, int], bytes]


class RangedFile(Seekable):
    """A seekable file whose bytes are fetched when they are read; `fetch(start, stop)` gets the bytes of a range."""

    def __init__(self, size: int, tail: bytes, fetch: Fetch) -> None:
        super().__init__()
        self.size = size
        self._fetch = fetch
        self._parts: list[tuple[int, bytes]] = [(size - len(tail), tail)]

    def span(self, start: int, stop: int) -> bytes:
        """The bytes of a range; what isn't there yet is fetched in one request for each gap."""
        pieces = []
        while start < stop:
            part = next((part for part in self._parts if part[0] <= start < part[0] + len(part[1])), None)
            if part is None:
                part = self._load(start, stop)
            piece = part[1][start - part[0] : stop - part[0]]
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def _load(self, start: int, stop: int) -> tuple[int, bytes]:
        limit = min([first for first, _ in self._parts if first > start], default=self.size)
        stop = min(limit, max(stop, start + _STEP))
        content = self._fetch(start, stop)
        if len(content) != stop - start:
            raise OutsideError(f"asked for {stop - start} bytes of a wheel and got {len(content)}")
        self._parts.append((start, content))
        return self._parts[-1]


def metadata_of(wheel: IO[bytes] | RangedFile, file: ReleaseFile, where: str) -> bytes:
    """METADATA of an open wheel. Raises OutsideError if it isn't a wheel of that package."""
    import zipfile  # not needed where METADATA is cached

    try:
        with zipfile.ZipFile(_sole_metadata(wheel, file.name) if isinstance(wheel, RangedFile) else wheel) as archive:
            entry = _metadata_entry(archive, file.name)
            if entry is None:
                raise OutsideError(f"{where} is a zip without METADATA of {file.name}")
            if isinstance(wheel, RangedFile):
                start = entry.header_offset
                wheel.span(start, min(start + _HEADER_SLACK + entry.compress_size, archive.start_dir))
            return archive.read(entry)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, OSError) as error:
        raise OutsideError(f"{where} is not a wheel: {error}") from error


def _sole_metadata(wheel: RangedFile, name: str) -> OneEntry | RangedFile:
    """The wheel with nothing but its METADATA to be seen, where that is found without reading all names."""
    return next((zipped for path, zipped in entries_named(wheel, b".dist-info/METADATA") if _is_of(path, name)), wheel)


def _is_of(path: str, name: str) -> bool:
    folder, _, rest = path.partition("/")
    return rest == "METADATA" and folder.endswith(".dist-info") and canonical(folder.split("-")[0]) == name


def _metadata_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    return next((entry for entry in archive.infolist() if _is_of(entry.filename, name)), None)


def local_metadata(path: Path, file: ReleaseFile) -> bytes:
    """METADATA of a wheel on disk."""
    try:
        with path.open("rb") as wheel:
            return metadata_of(wheel, file, str(path))
    except OSError as error:
        raise OutsideError(f"{path} can't be read: {error.strerror}") from error
