"""Seekable: a file whose bytes come from elsewhere, as zipfile wants to read it."""

from __future__ import annotations

import io
from abc import abstractmethod


class Seekable(io.RawIOBase):
    """Reading, seeking and telling over `size` bytes; how a span of them is got is the subclass's."""

    size: int

    def __init__(self) -> None:
        super().__init__()
        self._position = 0

    @abstractmethod
    def span(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`."""

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        stop = self.size if size is None or size < 0 else min(self.size, self._position + size)
        found = self.span(self._position, stop)
        self._position += len(found)
        return found
