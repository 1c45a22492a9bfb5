"""A zip seen as if it held one entry: zipfile makes an object of each of them, and large wheels have ten thousand."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Protocol

from envsolve.index.seekable import Seekable

# APPNOTE.TXT of the zip format, 4.3.12 (a header in the table of contents) and 4.3.16 (the end of that table).
_HEADER, _HEADER_BYTES = b"PK\x01\x02", 46
_END = struct.Struct("<4s4H2LH")
_END_SIGN = b"PK\x05\x06"
_LENGTHS = struct.Struct("<3H")  # of the name, of extra fields, of the comment: at byte 28 of a header
_LENGTHS_AT = 28
_ZIP64 = 0xFFFFFFFF
_LONGEST_COMMENT = 0xFFFF


class Spans(Protocol):
    """What bytes are read from."""

    size: int

    def span(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`."""


class OneEntry(Seekable):
    """The zip up to its table of contents, followed by a table of one entry only."""

    def __init__(self, whole: Spans, table_at: int, header: bytes) -> None:
        super().__init__()
        end = _END.pack(_END_SIGN, 0, 0, 1, 1, len(header), table_at, 0)
        self.size = table_at + len(header) + len(end)
        self._whole, self._table_at, self._table = whole, table_at, header + end

    def span(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`."""
        head = self._whole.span(start, min(stop, self._table_at)) if start < self._table_at else b""
        return head + self._table[max(0, start - self._table_at) : max(0, stop - self._table_at)]


def entries_named(whole: Spans, suffix: bytes) -> Iterator[tuple[str, OneEntry]]:
    """The entries whose name ends so, each as a zip of its own.

    Nothing for what isn't a plain zip (64-bit fields, a table that isn't there): zipfile is to look at all of that.
    """
    found = _table(whole)
    if found is None:
        return
    table_at, table = found
    place = table.find(suffix)
    while place >= 0:
        stop = place + len(suffix)
        start = table.rfind(_HEADER, 0, place)
        if start >= 0 and start + _HEADER_BYTES <= place:
            name, extra, comment = _LENGTHS.unpack_from(table, start + _LENGTHS_AT)
            if start + _HEADER_BYTES + name == stop:
                text = table[start + _HEADER_BYTES : stop].decode("utf-8", "replace")
                yield text, OneEntry(whole, table_at, table[start : stop + extra + comment])
        place = table.find(suffix, stop)


def _table(whole: Spans) -> tuple[int, bytes] | None:
    """Where the table of contents is, and its bytes."""
    start = max(0, whole.size - _END.size)
    end = whole.span(start, whole.size)
    if not end.startswith(_END_SIGN):
        start = max(0, whole.size - _END.size - _LONGEST_COMMENT)
        end = whole.span(start, whole.size)
        place = end.rfind(_END_SIGN)
        start, end = start + place, end[place:] if place >= 0 else b""
    if len(end) < _END.size:
        return None
    *_, size, table_at, _ = _END.unpack_from(end)
    if _ZIP64 in (size, table_at) or table_at + size != start:
        return None
    return table_at, whole.span(table_at, table_at + size)
