"""Pace: how many of an index's threads work at the same time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from envsolve.index.limits import MAX_CONNECTIONS

_FEWEST = 4
# What Python itself does for one request, from the answer to the next question (benchmarks/solving.py cold).
_OWN_SECONDS = 0.0025
_LAST = 16


class Pace:
    """As many as keep Python busy, and no more: threads have one processor's worth of it between them.

    Where an index answers within milliseconds, more than a few threads wait for each other, and each of them opens a
    connection of its own (a handshake): sixteen take longer than four. Where answers take a tenth of a second, sixteen
    it is. Answers that came soon tell: slow ones may have waited for us.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._working = 0
        self._waits: deque[float] = deque(maxlen=_LAST)
        self.limit = _FEWEST

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A turn for the block, once one is free."""
        with self._changed:
            self._changed.wait_for(lambda: self._working < self.limit)
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify()

    def note(self, seconds: float) -> None:
        """Note how long an answer took to begin."""
        with self._changed:
            self._waits.append(seconds)
            if len(self._waits) < _LAST // 2:
                return
            soon = sorted(self._waits)[len(self._waits) // 4]
            before, self.limit = self.limit, min(MAX_CONNECTIONS, max(_FEWEST, 1 + round(soon / _OWN_SECONDS)))
            if self.limit > before:
                self._changed.notify(self.limit - before)
