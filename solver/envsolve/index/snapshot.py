"""Snapshot: stands in for the PyTorch index and the default index where nothing was ever fetched (offline only)."""

from __future__ import annotations

import datetime
from typing import Any
from urllib.parse import quote

from envsolve.addresses import PYTORCH_INDEX
from envsolve.index.metadata import Condensed
from envsolve.index.page import Link
from envsolve.index.places import FAMILY, Place
from envsolve.index.release import UNKNOWN_ADDRESS, ReleaseFile
from envsolve.index.snapshot_file import SnapshotFile
from envsolve.redact import strip_credentials
from envsolve.settings import Settings

_DEFAULT = "pypi"


class Snapshot:
    """Only files whose hash and METADATA it holds. When it first answers, `said` is told how old it is."""

    def __init__(self, file: SnapshotFile, settings: Settings, said: list[str]) -> None:
        self._file = file
        self._said = said
        # Another address than the usual one may be another index, with other files.
        own = strip_credentials(settings.pytorch_index).rstrip("/") == PYTORCH_INDEX
        self._pytorch = PYTORCH_INDEX if own else ""
        self._default = "" if settings.no_index else strip_credentials(settings.default_index).rstrip("/")
        self._parts: dict[str, dict[str, Any] | None] = {}

    @property
    def date(self) -> str:
        """The day of the snapshot, "2026-12-01"."""
        return self._file.date

    def answers(self) -> None:
        """Tell, once, that the snapshot answers, and how old it is."""
        days = (datetime.date.today() - datetime.date.fromisoformat(self.date)).days
        age = "of today" if days <= 0 else "1 day old" if days == 1 else f"{days} days old"
        text = f"offline: the snapshot of {self.date} ({age}) stands in for the indexes; newer releases are not in it"
        if text not in self._said:
            self._said.append(text)

    def links(self, place: Place, name: str) -> list[Link] | None:
        """The files of a package at a place; None if the snapshot doesn't stand for that place or package.

        Of the torch family it has what it has: in a folder that it lacks there are no files, and another one will do.
        """
        part, folder = self._part_for(place, name)
        content = self._load(part) if part else None
        if part and content is None and place.base and name in FAMILY:
            content = {"files": ()}
        if content is None:
            return None
        self.answers()
        return [_link(row, folder) for row in content["files"]]

    def metadata(self, file: ReleaseFile) -> Condensed | None:
        """The METADATA of a file of exactly this name and hash; None where the snapshot has none."""
        if file.sha256 is None:
            return None
        for part in (f"{file.folder} {file.name}" if file.folder else "", f"{_DEFAULT} {file.name}"):
            content = (self._load(part) if part else None) or {"files": ()}
            for row in content["files"]:
                if row[0] == file.filename and row[1] == file.sha256:
                    self.answers()
                    return _condensed(content["metadata"][row[3]], file)
        return None

    def _part_for(self, place: Place, name: str) -> tuple[str, str]:
        """The part for a place, "" if there is none, and the address of the folder that its files are in."""
        if place.kind == "project" and place.base and place.base == self._pytorch:
            return f"{place.source.removeprefix(self._pytorch).strip('/')} {name}", place.source
        if place.kind == "project" and not place.base and place.source == self._default:
            return f"{_DEFAULT} {name}", ""
        return "", ""

    def _load(self, part: str) -> dict[str, Any] | None:
        if part not in self._parts:
            self._parts[part] = self._file.part(part)
        return self._parts[part]


def _link(row: list[Any], folder: str) -> Link:
    filename, sha256, size, _, python = row
    return Link(
        filename=filename,
        # Where the default index keeps its files is not known here, and a pin with a hash does without.
        url=f"{folder}/{quote(filename)}" if folder else f"{UNKNOWN_ADDRESS}{filename}",
        sha256=sha256,
        requires_python=python or None,
        size=size or None,
    )


def _condensed(row: list[Any], file: ReleaseFile) -> Condensed:
    python, requires, extras = row
    return {"version": str(file.version), "requires": requires, "extras": extras, "requires_python": python or None}
