"""Remote zip: the members of a zip file at an address, by ranges, without the rest of it."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from envsolve.errors import OutsideError
from envsolve.index.http import Http, RangesIgnored
from envsolve.index.seekable import Seekable
from envsolve.redact import redact
from envsolve.regex import regex

_CONTENT_RANGE = regex(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)
_STEP = 256 * 1024  # the least that one request fetches: the table of contents of a torch wheel has over a megabyte
_CHUNK = 2 * 1024 * 1024  # one request's share of a long member


class RemoteFile(Seekable):
    """A seekable file at an address, fetched in ranges as it is read; what was fetched last is kept."""

    def __init__(self, http: Http, url: str) -> None:
        super().__init__()
        self.fetched = 0
        self._http = http
        self._url = url
        self._start, self._held, self.size = 0, b"", 0
        self._held = self._range(f"-{_STEP}")
        self._start = self.size - len(self._held)

    def span(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`."""
        if start >= stop:
            return b""
        if not (self._start <= start and stop <= self._start + len(self._held)):
            last = min(self.size, max(stop, start + _STEP))
            self._held, self._start = self._range(f"{start}-{last - 1}"), start
        return self._held[start - self._start : stop - self._start]

    def _range(self, span: str) -> bytes:
        try:
            reply = self._http.get_range(self._url, span)
        except RangesIgnored:
            where = redact(self._url)
            raise OutsideError(f"{where} sends whole files only", hint="download it and give the file") from None
        found = _CONTENT_RANGE.fullmatch(reply.headers.get("content-range", ""))
        if reply.status != 206 or found is None:
            raise OutsideError(f"{redact(self._url)} is not there, or no file ({reply.status})")
        self.size = int(found[3])
        self.fetched += len(reply.body)
        return reply.body


def open_zip(source: RemoteFile | Path, where: str) -> zipfile.ZipFile:
    """The table of contents of a zip file. Raises OutsideError where it is none."""
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as error:
        raise OutsideError(f"{where} is not a wheel: {error}") from None


def member_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member in pieces, so that the reader may stop in the middle of a long one."""
    stream: IO[bytes] | None = archive.fp
    assert stream is not None
    stream.seek(entry.header_offset + 26)  # in the local header the lengths of name and extra fields come here
    name, extra = (int.from_bytes(stream.read(2), "little") for _ in range(2))
    position, left = entry.header_offset + 30 + name + extra, entry.compress_size
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if entry.compress_type == zipfile.ZIP_DEFLATED else None
    while left:
        stream.seek(position)
        packed = stream.read(min(left, _CHUNK))
        if not packed:
            raise OutsideError(f"{entry.filename} ends too early")
        position, left = position + len(packed), left - len(packed)
        yield inflate.decompress(packed) if inflate else packed
