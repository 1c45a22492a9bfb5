"""PlannedIndex: the torch family as the rules plan it, and another index for all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from packaging.tags import Tag
from packaging.version import Version

from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.resolve.ahead import Ahead
from envsolve.resolve.protocol import Index, LookingAhead, Remembering
from envsolve.resolve.request import TRIO

_RULES = "rules"
_EVERYWHERE = frozenset({Tag("py3", "none", "any")})


class PlannedIndex:
    """An Index (see resolve.protocol) in which each planned file of the torch family is there and needs nothing.

    So that the rest of a set can be looked at where the PyTorch index can't be reached. It can't give hashes.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.warnings = index.warnings

    def files(self, name: str, *, variant: str | None = None, version: Version | None = None) -> Sequence[ReleaseFile]:
        if name in TRIO:
            return [_planned(name, version)] if version is not None else []
        return self._index.files(name, version=version) if variant is None else []

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        if file.source != _RULES:
            return self._index.metadata(file)
        return WheelMetadata(name=file.name, version=file.version, requires=(), extras=frozenset())

    def hash_file(self, file: ReleaseFile) -> str:
        return self._index.hash_file(file)

    def prefetch(self, names: Sequence[str]) -> None:
        self._index.prefetch([name for name in names if name not in TRIO])

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        self._index.prefetch_metadata([file for file in files if file.source != _RULES])

    def look_ahead(self, guide: Ahead) -> None:
        if isinstance(self._index, LookingAhead):
            self._index.look_ahead(guide)

    def recall(self, name: str, target: str, *, variant: str | None = None, version: Version | None = None) -> Any:
        if name in TRIO or variant is not None or not isinstance(self._index, Remembering):
            return None
        return self._index.recall(name, target, version=version)

    def remember(
        self, name: str, target: str, body: Any, *, variant: str | None = None, version: Version | None = None
    ) -> None:
        if name not in TRIO and variant is None and isinstance(self._index, Remembering):
            self._index.remember(name, target, body, version=version)


def _planned(name: str, version: Version) -> ReleaseFile:
    filename = f"{name}-{version}-py3-none-any.whl"
    return ReleaseFile(
        name=name, version=version, filename=filename, url=f"planned:{filename}", source=_RULES, tags=_EVERYWHERE
    )
