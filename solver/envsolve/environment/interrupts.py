"""Interrupts: a polite kill ends an install as Ctrl-C does, so that nothing half-made stays and no child runs on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def kill_is_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt within the block (main thread only)."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    previous = {getattr(signal, name): signal.signal(getattr(signal, name), _interrupt) for name in names}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
