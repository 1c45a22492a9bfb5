"""Wheels: the files of the torch family that were seen on the PyTorch index, with their hashes. Loaded when asked."""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.utils import canonicalize_name

from envsolve.errors import OutsideError
from envsolve.record import record
from envsolve.rulebook.load import rules_dir

FILE = "torch/wheels.tsv.xz"


@record
class SeenWheel:
    """One wheel, keyed by its path below /whl/ ("cu128/torch-2.9.1+cu128-….whl"): names alone are not unique.

    `folder` is "" for files in the index root, which every variant's page lists. `sha256` and `metadata_sha256` are
    None where nobody gave one, or where two sources disagree. `inferred` = the path was not seen, only the name.
    """

    path: str
    sha256: str | None
    metadata_sha256: str | None
    upload_time: str
    inferred: bool

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def filename(self) -> str:
        return self.path.rpartition("/")[2]


# No slots: the look-ups are made once and kept.
@dataclass(frozen=True, eq=False)
class SeenWheels:
    """The table. A line is path, sha256, METADATA's sha256, upload time, "inferred" or nothing, tab by tab."""

    lines: tuple[str, ...]

    def of(self, name: str) -> tuple[SeenWheel, ...]:
        """All wheels of a project ("torch", "pytorch-triton-rocm"), in the order of their paths."""
        return tuple(map(_wheel, self._by_name.get(canonicalize_name(name), ())))

    def on_page(self, folder: str, name: str) -> tuple[SeenWheel, ...]:
        """What the page /whl/<folder>/<name>/ lists: that folder's wheels, then those of the index root."""
        wheels = self.of(name)
        return tuple(w for w in wheels if w.folder == folder) + tuple(w for w in wheels if w.folder == "" != folder)

    def at(self, path: str) -> SeenWheel | None:
        """The wheel at a path below /whl/ ("+" literal), or None."""
        line = self._by_path.get(path)
        return None if line is None else _wheel(line)

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for line in self.lines:
            name = line.partition("-")[0].rpartition("/")[2]
            found.setdefault(canonicalize_name(name), []).append(line)
        return found

    @cached_property
    def _by_path(self) -> Mapping[str, str]:
        return {line.partition("\t")[0]: line for line in self.lines}


def load_wheels(folder: Path | None = None) -> SeenWheels:
    """The table of a rules folder (this program's by default). Raises OutsideError where it can't be read."""
    path = (folder or rules_dir()) / FILE
    try:
        return unpack(path.read_bytes())
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise OutsideError(
            f"the table of wheels can't be read: {path}: {error}", hint="pip install --force-reinstall envsolve"
        ) from None


def unpack(data: bytes) -> SeenWheels:
    """Read the compressed table. Lines that start with # say where it comes from."""
    text = lzma.decompress(data).decode("utf-8")
    return SeenWheels(tuple(line for line in text.splitlines() if not line.startswith("#")))


def pack(wheels: Iterable[SeenWheel], comment: str) -> bytes:
    """The compressed table, the same bytes for the same wheels."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += sorted(_line(wheel) for wheel in wheels)
    return lzma.compress("".join(f"{line}\n" for line in lines).encode("utf-8"), preset=6)


def _wheel(line: str) -> SeenWheel:
    path, sha256, metadata, upload_time, inferred = line.split("\t")
    return SeenWheel(
        path=path,
        sha256=sha256 or None,
        metadata_sha256=metadata or None,
        upload_time=upload_time,
        inferred=bool(inferred),
    )


def _line(wheel: SeenWheel) -> str:
    fields = (wheel.path, wheel.sha256 or "", wheel.metadata_sha256 or "", wheel.upload_time)
    return "\t".join((*fields, "inferred" if wheel.inferred else ""))
