"""METADATA by ranges: the end of a remote wheel, and what else of it is needed."""

from __future__ import annotations

import re

from envsolve.errors import OutsideError
from envsolve.index.http import Http, RangesIgnored, Reply
from envsolve.index.release import ReleaseFile
from envsolve.index.wheel_tail import TAIL_BYTES, RangedFile, metadata_of
from envsolve.index.whole import not_a_wheel
from envsolve.redact import redact
from envsolve.regex import regex

_CONTENT_RANGE = regex(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)
# How servers that know ranges refuse one that is counted from the end.
_REFUSED = (400, 405, 416, 501)


def ranged_metadata(http: Http, file: ReleaseFile) -> bytes:
    """METADATA of a remote wheel in one to three requests. Raises RangesIgnored or OutsideError."""
    reply = http.get_range(file.url, f"-{TAIL_BYTES}", passes=_REFUSED)
    if reply.status in _REFUSED:
        reply = _tail_by_length(http, file)
    size = _size(reply, file)

    def fetch(start: int, stop: int) -> bytes:
        part = http.get_range(file.url, f"{start}-{stop - 1}")
        if _size(part, file) != size:
            raise OutsideError(f"{redact(file.url)} changed while it was read")
        return part.body

    return metadata_of(RangedFile(size, reply.body, fetch), file, redact(file.url))


def _tail_by_length(http: Http, file: ReleaseFile) -> Reply:
    """The end of a file, where the server has to be told the place."""
    length = http.get(file.url, method="HEAD").headers.get("content-length", "")
    if not length.isdecimal():
        raise RangesIgnored
    return http.get_range(file.url, f"{max(0, int(length) - TAIL_BYTES)}-{int(length) - 1}")


def _size(reply: Reply, file: ReleaseFile) -> int:
    """The size of the whole file, from an answer with a range of it."""
    if reply.status == 404:
        raise OutsideError(f"{redact(file.url)} is listed and not there (404)")
    found = _CONTENT_RANGE.fullmatch(reply.headers.get("content-range", ""))
    if found is None or reply.content_type.startswith("text/html"):
        raise not_a_wheel(file)
    return int(found[3])
