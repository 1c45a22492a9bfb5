"""What the resolver needs from an index; the index room implements it, tests use a dict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from packaging.version import Version

from envsolve.index.release import ReleaseFile, WheelMetadata

if TYPE_CHECKING:
    from envsolve.resolve.ahead import Ahead


class Index(Protocol):
    """Files and their metadata. Both calls may raise OutsideError (an address that can't be reached)."""

    warnings: list[str]  # places that could not be asked and were passed over, in words

    def files(self, name: str, *, variant: str | None = None, version: Version | None = None) -> Sequence[ReleaseFile]:
        """All files of a canonical name that this plan may use.

        `variant` is given for the torch family (the variant folder, find-links and the mirror answer, in that order,
        and no other index); None asks the default Python index and the user's own ones. `version` (label included) is
        the only one that will be looked at: the first place that has it answers.
        """
        ...

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        """The METADATA of one wheel."""
        ...

    def hash_file(self, file: ReleaseFile) -> str:
        """The SHA-256 (hex) of a file whose index gives none, by reading the whole file once."""
        ...

    def prefetch(self, names: Sequence[str]) -> None:
        """A hint: these names will be asked next; may load them in parallel."""
        ...

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        """A hint: the METADATA of these wheels will be asked next; may load them in parallel."""
        ...


@runtime_checkable
class LookingAhead(Protocol):
    """What an Index may do as well: go on from what a hint has brought, without being asked."""

    def look_ahead(self, guide: Ahead) -> None:
        """Follow this guide from here on."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """What an Index may do as well: keep what was worked out of the files of a package for one target."""

    def recall(self, name: str, target: str, *, variant: str | None = None, version: Version | None = None) -> Any:
        """What was kept, if the files that `files` would give back are still the same; else None."""
        ...

    def remember(
        self, name: str, target: str, body: Any, *, variant: str | None = None, version: Version | None = None
    ) -> None:
        """Keep plain data for one target, named by a text."""
        ...
