"""Progress: how far a download is, told to whoever shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable

# Bytes that are there, and bytes in all.
Progress = Callable[[int, int], None]


class Tally:
    """Adds up what several downloads have, and tells it on; safe to use from several threads."""

    def __init__(self, total: int, tell: Progress) -> None:
        self._total = total
        self._tell = tell
        self._done = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        """So many bytes more (fewer, where some had to be thrown away)."""
        with self._lock:
            self._done += count
            done = self._done
        self._tell(done, max(done, self._total))


def untold(done: int, total: int) -> None:
    """Nobody looks."""
