"""ReleaseFile: one file that an index lists, and the metadata inside it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, parse_tag
from packaging.version import Version

from envsolve.record import record

# In place of an address where only name and hash of a file are known; the file's name follows.
UNKNOWN_ADDRESS = "unknown:"


@record
class ReleaseFile:
    """One wheel or sdist as an index page lists it.

    `url` is absolute and carries neither fragment nor credentials ("unknown:" and the file's name where the snapshot
    knows no address: see `has_address`); `sha256` is None where the index gives none;
    `metadata_sha256` is the hash of METADATA ("" = offered without a hash, None = not offered); `size` is in bytes.
    `source` names the index or folder that it came from, without credentials; `folder` is its folder on the PyTorch
    index ("cu128", "" for the root, which every variant's page lists as well), None for files of other places.
    """

    name: str  # canonical
    version: Version
    filename: str
    url: str
    source: str
    sha256: str | None = None
    metadata_sha256: str | None = None
    requires_python: SpecifierSet | None = None
    tags: frozenset[Tag] = frozenset()  # empty for an sdist
    build: tuple[int, str] | tuple[()] = ()
    yanked: str | None = None  # the reason; None = not yanked
    size: int | None = None
    folder: str | None = None

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")

    @property
    def has_address(self) -> bool:
        """Whether `url` leads to the file. If not, name, version and hash are all that is known."""
        return not self.url.startswith(UNKNOWN_ADDRESS)

    @property
    def is_local(self) -> bool:
        """A file on this machine's disk: a lock that uses it is not portable."""
        return self.url.startswith("file:")


@record
class WheelMetadata:
    """What METADATA says: requirements with their markers, extras, requires-python."""

    name: str
    version: Version
    requires: tuple[Requirement, ...]
    extras: frozenset[str]
    requires_python: SpecifierSet | None = None


Row = list[Any]


@lru_cache(maxsize=4096)
def tags_of(text: str) -> frozenset[Tag]:
    """The tags of a wheel's tag part ("cp312-cp312-manylinux_2_28_x86_64")."""
    return parse_tag(text)


def row_of_file(file: ReleaseFile) -> Row:
    """A file as plain data, for what is kept; its Requires-Python, tags and build number are left out."""
    return [
        str(file.version), file.filename, file.url, file.source, file.sha256, file.metadata_sha256, file.yanked,
        file.size, file.folder,
    ]  # fmt: skip


def file_of_row(name: str, row: Row) -> ReleaseFile:
    """The file of such a row; its tags are read from its name. Raises TypeError or ValueError for another row."""
    version, filename, url, source, sha256, metadata_sha256, yanked, size, folder = row
    return ReleaseFile(
        name=name,
        version=Version(version),
        filename=filename,
        url=url,
        source=source,
        sha256=sha256,
        metadata_sha256=metadata_sha256,
        tags=tags_of("-".join(filename[:-4].rsplit("-", 3)[1:])) if filename.endswith(".whl") else frozenset(),
        yanked=yanked,
        size=size,
        folder=folder,
    )
