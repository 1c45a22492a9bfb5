"""A conda channel on disk with a tiny python and pip, which py-rattler solves and installs like real ones.

channel = CondaChannel(tmp_path / "channel")
channel.add("python", "3.12.4")          # linux-64, needs __glibc >=2.17
channel.add("pip", "24.0", subdir="noarch", depends=("python >=3.8",))
channel.url                              # for --conda-channel
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

_SUBDIRS = ("linux-64", "win-64", "noarch")


class CondaChannel:
    """Every package that is added is there at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._packages: dict[str, dict[str, Any]] = {subdir: {} for subdir in _SUBDIRS}
        self._write()

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    def add(
        self, name: str, version: str, *, subdir: str = "linux-64", build: str = "0", depends: tuple[str, ...] = ()
    ) -> str:
        """Add a package with one file, bin/<name>; returns its SHA-256."""
        info: dict[str, Any] = {
            "name": name,
            "version": version,
            "build": f"h{hashlib.md5(version.encode()).hexdigest()[:7]}_{build}",
            "build_number": int(build),
            "depends": list(depends),
            "subdir": subdir,
            **({"noarch": "generic"} if subdir == "noarch" else {}),
        }
        content = _package(info, {f"bin/{name}": f"#!/bin/sh\necho {name} {version}\n".encode()})
        filename = f"{name}-{version}-{info['build']}.tar.bz2"
        (self.folder / subdir / filename).write_bytes(content)
        digests = {kind: hashlib.new(kind, content).hexdigest() for kind in ("md5", "sha256")}
        self._packages[subdir][filename] = {**info, **digests, "size": len(content)}
        self._write()
        return digests["sha256"]

    def _write(self) -> None:
        for subdir, packages in self._packages.items():
            page = {"info": {"subdir": subdir}, "packages": packages, "packages.conda": {}, "repodata_version": 1}
            (self.folder / subdir).mkdir(parents=True, exist_ok=True)
            (self.folder / subdir / "repodata.json").write_text(json.dumps(page))


def _package(info: dict[str, Any], files: dict[str, bytes]) -> bytes:
    paths = [
        {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
        for path, data in files.items()
    ]
    entries = {
        "info/index.json": json.dumps(info).encode(),
        "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}).encode(),
        **files,
    }
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:bz2") as tar:
        for path, data in entries.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return raw.getvalue()
