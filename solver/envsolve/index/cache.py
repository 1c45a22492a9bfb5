"""Cache: small entries on disk, written whole, safe under parallel runs; what can't be read is dropped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from pathlib import Path
from typing import IO, Any

from envsolve.record import record

FORMAT = "index-4"


@record
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
        self._folder = str(folder / FORMAT)

    def read(self, kind: str, key: str, *, body: bool = True, raw: bool = False) -> Entry | None:
        """An entry, without its body where that isn't needed; `raw`: the body as it was written, as bytes."""
        path = self._path(kind, key)
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - a Path for each of some hundred files costs milliseconds
                head = json.loads(file.readline())
                content = file.read() if body else b""
                age = max(0.0, time.time() - os.fstat(file.fileno()).st_mtime)
            if head["key"] != key:
                raise ValueError(key)
            value = (content if raw else json.loads(content)) if body else None
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            self._drop(path)
            return None
        return Entry(head=head, age=age, body=value)

    def mark(self, kind: str, key: str) -> int:
        """A number that changes when the entry is written or touched; 0 if there is none. The file is not opened."""
        try:
            return os.stat(self._path(kind, key)).st_mtime_ns  # noqa: PTH116
        except OSError:
            return 0

    def write(self, kind: str, key: str, head: dict[str, Any], body: Any) -> None:
        """Put an entry in place of an older one, all at once; a body of bytes is kept as it is."""
        path = self._path(kind, key)
        content = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        made = f"{path}.{os.getpid()}-{threading.get_ident()}.part"
        with contextlib.suppress(OSError):
            try:
                with _made(made) as file:
                    file.write(json.dumps({**head, "key": key}).encode() + b"\n" + content)
                os.replace(made, path)  # noqa: PTH105
            except BaseException:
                self._drop(made)
                raise

    def touch(self, kind: str, key: str) -> None:
        """Note that an entry was checked just now and still holds."""
        with contextlib.suppress(OSError):
            os.utime(self._path(kind, key))

    def drop(self, kind: str, key: str) -> None:
        """Forget an entry."""
        self._drop(self._path(kind, key))

    def _path(self, kind: str, key: str) -> str:
        digest = hashlib.sha256(key.encode()).hexdigest()
        return f"{self._folder}/{kind}/{digest[:40]}"

    @staticmethod
    def _drop(path: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108


def _made(path: str) -> IO[bytes]:
    """A new file, in a folder that is made if need be: nearly always it is there."""
    try:
        return open(path, "wb")  # noqa: PTH123
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        return open(path, "wb")  # noqa: PTH123
