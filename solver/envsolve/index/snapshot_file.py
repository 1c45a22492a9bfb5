"""The snapshot's file: one line of JSON that says where each part is, then the parts, each JSON packed by zlib.

A part is read without unpacking the others: the whole of it is not needed for one lock.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from envsolve.errors import OutsideError
from envsolve.rulebook.load import rules_dir

FILE = "snapshot.pack"
_FORMAT = 1


def write_snapshot(path: Path, date: str, parts: Mapping[str, Any]) -> None:
    """Write the parts ("" and numbers and lists only), dated "2026-12-01"; the same bytes for the same parts."""
    packed = {name: zlib.compress(_compact(parts[name]), 9) for name in sorted(parts)}
    places: dict[str, list[int]] = {}
    start = 0
    for name, blob in packed.items():
        places[name] = [start, len(blob)]
        start += len(blob)
    head = _compact({"format": _FORMAT, "date": date, "parts": places})
    path.write_bytes(b"".join((head, b"\n", *packed.values())))


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class SnapshotFile:
    """Reads parts by name, when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def date(self) -> str:
        """The day on which its files were seen, "2026-12-01". Raises OutsideError if it can't be read."""
        return str(self._head["date"])

    def part(self, name: str) -> Any:
        """A part, None where there is none of that name. Raises OutsideError if it can't be read."""
        place = self._head["parts"].get(name)
        if place is None:
            return None
        start, size = place
        try:
            with self.path.open("rb") as file:
                file.seek(self._head["start"] + start)
                return json.loads(zlib.decompress(file.read(size)))
        except (OSError, ValueError, zlib.error) as error:
            raise self._broken(error) from None

    @cached_property
    def _head(self) -> dict[str, Any]:
        try:
            with self.path.open("rb") as file:
                head: dict[str, Any] = json.loads(file.readline())
                if head["format"] != _FORMAT:
                    raise ValueError(f"format {head['format']}")
                return {**head, "start": file.tell()}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> OutsideError:
        return OutsideError(
            f"the snapshot can't be read: {self.path}: {error}", hint="pip install --force-reinstall envsolve"
        )


def bundled() -> SnapshotFile:
    """The snapshot that comes with this program."""
    return SnapshotFile(rules_dir() / FILE)
