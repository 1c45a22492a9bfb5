"""Shelf: many small entries of the cache in one file.

To make a file takes the system a third of a millisecond; a lock of a hundred packages brings some hundreds of entries.
"""

from __future__ import annotations

import threading
from typing import Any

from envsolve.index.cache import Cache

# A file with more entries keeps what its last run used: some megabytes.
_MOST = 4096


class Shelf:
    """Plain data by key, in the file of one kind and name; read when it is first asked, written by `save`.

    `anew`: nothing of what is there is given back. Safe to use from several threads; what runs side by side have
    written stays.
    """

    def __init__(self, cache: Cache, kind: str, name: str, *, anew: bool = False) -> None:
        self._cache = cache
        self._kind = kind
        self._name = name
        self._anew = anew
        self._lock = threading.Lock()
        self._mark: int | None = None
        self._old: dict[str, Any] = {}
        self._used: set[str] = set()
        self._new: dict[str, Any] = {}

    def get(self, key: str) -> Any | None:
        """An entry; None where there is none."""
        with self._lock:
            if self._mark is None:
                self._mark = self._cache.mark(self._kind, self._name)
                self._old = {} if self._anew else self._read()
        found = self._new.get(key, self._old.get(key))
        if found is not None:
            self._used.add(key)
        return found

    def put(self, key: str, value: Any) -> None:
        """Keep plain data."""
        self._new[key] = value

    def save(self) -> None:
        """Write what is new beside what is there now."""
        if not self._new:
            return
        if self._anew or self._cache.mark(self._kind, self._name) != self._mark:
            self._old = {**self._old, **self._read()}
        entries = {**self._old, **self._new}
        if len(entries) > _MOST:
            entries = {key: value for key, value in entries.items() if key in self._used or key in self._new}
        self._cache.write(self._kind, self._name, {}, entries)
        self._old, self._new, self._mark = entries, {}, self._cache.mark(self._kind, self._name)

    def _read(self) -> dict[str, Any]:
        entry = self._cache.read(self._kind, self._name)
        return entry.body if entry is not None and isinstance(entry.body, dict) else {}
