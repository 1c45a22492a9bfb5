"""Hold: a lock on one build, kept by whoever fills it (alone) or runs in it (shared), or on a name.

A build needs two things that filelock lacks: readers beside each other, and a file descriptor that a child inherits, so
that an installer outliving a killed envsolve, or a program started in the environment, keeps its hold. With that at
hand, filelock serves the names on Windows only: its import costs as much as a third of what envsolve does itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from envsolve.errors import OutsideError

if sys.platform != "win32":
    import fcntl


def try_hold(path: Path, *, shared: bool = False) -> int | None:
    """Open and lock `path` without waiting: the descriptor, or None when somebody else holds it.

    On Windows nothing is locked (the system itself refuses to remove files that are in use). Raises OutsideError where
    the file can't be made or the file system knows no locks.
    """
    descriptor = _opened(path)
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            raise _no_lock(path, error) from error
    return descriptor


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _no_lock(path, error) from error


def _no_lock(path: Path, error: OSError) -> OutsideError:
    return OutsideError(
        f"can't make the lock {path}: {error.strerror}",
        hint="name one that you may write to: export ENVSOLVE_HOME=/a/folder, or another --path",
    )


@contextmanager
def holding(path: Path) -> Iterator[int | None]:
    """Hold `path` alone for the block; gives the descriptor, or None when somebody else holds it."""
    descriptor = try_hold(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def alone(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold `path` alone for the block; `waiting` is called where somebody else has it, and then we wait."""
    if sys.platform == "win32":
        with _alone_on_windows(path, waiting):
            yield
        return
    descriptor = try_hold(path)
    if descriptor is None:
        waiting()
        descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # ours already, or the wait for it; Ctrl-C ends it
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _alone_on_windows(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
