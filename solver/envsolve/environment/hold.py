"""Hold: a lock on one build, kept by whoever fills it (alone) or runs in it (shared).

filelock serves the names; a build needs two things that it lacks: readers beside each other, and a file descriptor
that a child inherits, so that an installer outliving a killed envsolve, or a program started in the environment, keeps
its hold.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


def try_hold(path: Path, *, shared: bool = False) -> int | None:
    """Open and lock `path` without waiting: the descriptor, or None when somebody else holds it.

    On Windows nothing is locked (the system itself refuses to remove files that are in use).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
    return descriptor


@contextmanager
def holding(path: Path) -> Iterator[int | None]:
    """Hold `path` alone for the block; gives the descriptor, or None when somebody else holds it."""
    descriptor = try_hold(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)
