"""Guide: what an index follows where it fetches ahead of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from envsolve.index.release import ReleaseFile, WheelMetadata


class Guide(Protocol):
    """What a page and METADATA are likely to lead to; asked from several threads. Raises nothing."""

    def file(self, name: str, files: Sequence[ReleaseFile]) -> ReleaseFile | None:
        """The wheel whose METADATA is likely to be asked for, of the files of a package."""
        ...

    def names(self, metadata: WheelMetadata) -> Sequence[str]:
        """The packages that a wheel leads to."""
        ...
