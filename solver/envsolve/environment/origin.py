"""Origin: where an environment records that its packages came from: the lock's addresses, no paths of this machine."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from packaging.utils import canonicalize_name

from envsolve.environment.pointer import write_atomically
from envsolve.lock.lock import LockedFile, LockedPackage

_FILE = "direct_url.json"


def restore_origins(environment: Path, packages: Iterable[LockedPackage], here: Mapping[str, Path]) -> None:
    """Of packages that were installed from files on this machine, record the lock's address, or none where it has none.

    So `pip freeze` in the environment names no path of this machine. Raises OSError.
    """
    by_name = {package.name: package for package in packages}
    for folder in _site_packages(environment):
        for info in folder.glob("*.dist-info"):
            package = by_name.get(canonicalize_name(info.name.split("-")[0]))
            file = next((f for f in package.files if f.sha256 in here), None) if package else None
            if package and file and (info / _FILE).is_file():
                _restore(info, file if package.direct else None)


def _site_packages(environment: Path) -> list[Path]:
    return [*environment.glob("lib/python*/site-packages"), *environment.glob("Lib/site-packages")]


def _restore(info: Path, file: LockedFile | None) -> None:
    """Write the file of a direct package anew, or remove it; RECORD follows. Links into a cache are not written to."""
    entry, content = f"{info.name}/{_FILE}", b""
    if file:
        hashes = {"hash": f"sha256={file.sha256}", "hashes": {"sha256": file.sha256}}
        text = json.dumps({"archive_info": hashes, "url": file.url})
        content = text.encode()
        write_atomically(info / _FILE, text)
    record = info / "RECORD"
    rows = [row for row in csv.reader(record.read_text(encoding="utf-8").splitlines()) if row and row[0] != entry]
    if file:
        digest = base64.urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
        rows.append([entry, f"sha256={digest}", str(len(content))])
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    write_atomically(record, out.getvalue())
    if not file:
        (info / _FILE).unlink()
