"""Partial: a file on its way here, which goes on where it broke off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.errors import OutsideError
from envsolve.index.http import Http, pieces
from envsolve.index.limits import BACKOFF_SECONDS
from envsolve.settings import redact

if TYPE_CHECKING:
    from _hashlib import HASH

    from requests import Response

_PIECE = 1 << 18


class Interrupted(OutsideError):
    """Somebody asked to stop; what has come is kept."""


class Partial:
    """What there is of the file behind `url`, in `path`; `count` hears of each piece, `stop` ends it between two.

    Each byte is hashed once: what an earlier run left when this begins, the rest as it comes.
    """

    def __init__(self, url: str, path: Path, http: Http, count: Callable[[int], None], stop: threading.Event) -> None:
        self._url = url
        self._path = path
        self._http = http
        self._count = count
        self._stop = stop
        self._count(self.size)
        self._hash = _hash_of(path)

    @property
    def size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    @property
    def sha256(self) -> str:
        """The SHA-256 (hex) of what there is."""
        return self._hash.hexdigest()

    def throw_away(self) -> None:
        """Begin anew."""
        self._count(-self.size)
        self._path.unlink(missing_ok=True)
        self._hash = sha256()

    def complete(self, retries: int) -> None:
        """Fetch the rest. Gives up after so many tries in a row that brought nothing. Raises OutsideError, OSError."""
        fruitless = 0
        while True:
            before = self.size
            try:
                return self._rest(before)
            except Interrupted:
                raise
            except OutsideError:
                fruitless = 0 if self.size > before else fruitless + 1
                if fruitless > retries:
                    raise
                time.sleep(BACKOFF_SECONDS * 2**fruitless)

    def _rest(self, start: int) -> None:
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
        with self._http.open(self._url, headers, passes=(416,)) as answer:
            if answer.status_code == 416:  # it is whole already, or isn't what it was: the hash will tell
                return
            if answer.status_code == 404:
                raise OutsideError(f"{redact(self._url)} is not there", hint="envsolve lock --refresh")
            if start and answer.status_code != 206:
                self.throw_away()
            self._append(answer)

    def _append(self, answer: Response) -> None:
        with self._path.open("ab", buffering=0) as file:
            for piece in pieces(answer, self._url, _PIECE):
                if self._stop.is_set():
                    raise Interrupted("interrupted")
                file.write(piece)
                self._hash.update(piece)
                self._count(len(piece))


def _hash_of(path: Path) -> HASH:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256")
    except FileNotFoundError:
        return sha256()
