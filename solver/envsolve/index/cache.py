"""Cache: small entries on disk, written whole, safe under parallel runs; what can't be read is dropped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FORMAT = "index-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A cached value: what is known of it, how many seconds ago it was checked, and its body (None if not read)."""

    head: dict[str, Any]
    age: float
    body: Any = None


class Cache:
    """Entries by kind and key below one folder. One file each: safe on network disks, where SQLite's locks are not.

    Nothing here raises: a disk that is full or read-only makes envsolve slower, not wrong.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FORMAT

    def read(self, kind: str, key: str, *, body: bool = True) -> Entry | None:
        """An entry, without its body where that isn't needed."""
        path = self._path(kind, key)
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline())
                content = json.loads(file.read()) if body else None
                age = max(0.0, time.time() - os.fstat(file.fileno()).st_mtime)
            if head["key"] != key:
                raise ValueError(key)
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            self._drop(path)
            return None
        return Entry(head=head, age=age, body=content)

    def write(self, kind: str, key: str, head: dict[str, Any], body: Any) -> None:
        """Put an entry in place of an older one, all at once."""
        path = self._path(kind, key)
        text = json.dumps({**head, "key": key}) + "\n" + json.dumps(body, separators=(",", ":"))
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, made = tempfile.mkstemp(dir=path.parent, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(text.encode())
                Path(made).replace(path)
            except BaseException:
                self._drop(Path(made))
                raise

    def touch(self, kind: str, key: str) -> None:
        """Note that an entry was checked just now and still holds."""
        with contextlib.suppress(OSError):
            os.utime(self._path(kind, key))

    def drop(self, kind: str, key: str) -> None:
        """Forget an entry."""
        self._drop(self._path(kind, key))

    def _path(self, kind: str, key: str) -> Path:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / kind / digest[:2] / digest[2:42]

    @staticmethod
    def _drop(path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink()
