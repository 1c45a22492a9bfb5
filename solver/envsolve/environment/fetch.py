"""Fetch: the large wheels of a lock into a folder of envsolve's own, so that a download that broke off goes on.

Neither uv nor pip resumes a download in a later run, and neither says how long it will take. A file is kept under its
hash, and counts only once its bytes have it:

    wheels/<sha256>/<file name>     a whole file
    wheels/<sha256>.part            what there is of one
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from filelock import FileLock

from envsolve.environment.failure import OtherBytes
from envsolve.environment.partial import Partial
from envsolve.environment.progress import Progress, Tally, untold
from envsolve.environment.wanted import Wanted, is_damaged, is_kept, kept, mark_used, wheels_folder
from envsolve.errors import EnvsolveError
from envsolve.index.http import Http
from envsolve.index.limits import MAX_CONNECTIONS
from envsolve.record import record
from envsolve.settings import Settings, redact

_JOIN_SECONDS = 1.0


@record
class Fetched:
    """Files that are here, by hash, and why others are not, by hash."""

    files: Mapping[str, Path]
    failed: Mapping[str, EnvsolveError]


def fetch(
    wanted: Iterable[Wanted], settings: Settings, *, progress: Progress = untold, prove_kept: bool = True
) -> Fetched:
    """Bring the files here, a few at once; each goes on where an earlier run broke off, and its hash is checked.

    Without `prove_kept`, whole files that an earlier run kept are not hashed again: whoever installs them does it.
    What can't be had is told in the answer, never raised, except for OSError (disk) and an interrupt; then too what
    has come stays for the next run.
    """
    todo = {one.sha256: one for one in wanted}
    run = _Run(todo.values(), settings, progress, prove_kept=prove_kept)
    threads = [threading.Thread(target=run.work, daemon=True) for _ in range(min(len(todo), MAX_CONNECTIONS))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)  # without a time limit, Windows would not hear Ctrl-C
    finally:
        run.stop.set()
        for thread in threads:
            thread.join(_JOIN_SECONDS)
        run.http.close()
    if run.broken:
        raise run.broken[0]
    return Fetched(files=run.files, failed=run.failed)


class _Run:
    """What the threads of one call share."""

    def __init__(self, wanted: Iterable[Wanted], settings: Settings, progress: Progress, *, prove_kept: bool) -> None:
        self.files: dict[str, Path] = {}
        self.failed: dict[str, EnvsolveError] = {}
        self.broken: list[OSError] = []
        self.stop = threading.Event()
        self.http = Http(settings)
        self._settings = settings
        self._prove_kept = prove_kept
        self._queue: queue.SimpleQueue[Wanted] = queue.SimpleQueue()
        # The largest first: they take longest.
        for one in sorted(wanted, key=lambda one: -(one.size or 0)):
            self._queue.put(one)
        self._tally = Tally(sum(one.size or 0 for one in wanted), progress)

    def work(self) -> None:
        while not self.stop.is_set():
            try:
                one = self._queue.get_nowait()
            except queue.Empty:
                return
            try:
                self.files[one.sha256] = self._one(one)
            except EnvsolveError as error:
                self.failed[one.sha256] = error
            except OSError as error:
                self.broken.append(error)
                self.stop.set()

    def _is_here(self, one: Wanted) -> bool:
        if not is_kept(one, self._settings) or (self._prove_kept and is_damaged(one, self._settings)):
            return False
        path = kept(one, self._settings)
        self._tally.add(path.stat().st_size)
        mark_used(path)
        return True

    def _one(self, one: Wanted) -> Path:
        """The whole file. Raises OtherBytes, OutsideError, OSError."""
        path = kept(one, self._settings)
        part = wheels_folder(self._settings) / f"{one.sha256}.part"
        if self._is_here(one):  # nothing is written: the cache may be one that can't be
            return path
        part.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(part.with_suffix(".lock")):  # another envsolve may be at it
            if self._is_here(one):
                return path
            partial = Partial(one.url, part, self.http, self._tally.add, self.stop)
            resumed = partial.size > 0
            partial.complete(self._settings.retries)
            if resumed and partial.sha256 != one.sha256:  # the file has changed in between
                partial.throw_away()
                partial.complete(self._settings.retries)
            if partial.sha256 != one.sha256:
                partial.throw_away()
                raise _other_bytes(one)
            path.parent.mkdir(exist_ok=True)
            part.replace(path)
        return path


def _other_bytes(one: Wanted) -> OtherBytes:
    return OtherBytes(
        f"what {redact(one.url)} sent is not the file that the lock pins (hash mismatch: a changed file, a truncated "
        "download, or an error page of a mirror or proxy); nothing of it was kept",
        hint="try again or without --mirror; if the file has changed, or the lock was edited, make a new one: "
        "envsolve lock --refresh",
    )
