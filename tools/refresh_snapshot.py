"""Make rules/snapshot.pack: what `envsolve lock --offline` chooses from where nothing was ever fetched.

    python tools/refresh_snapshot.py [--date 2026-12-01]

The torch family comes from rules/torch/wheels.tsv.xz (hashes) and rules/torch/requires.json (requirements); everything
else, and the family's plain wheels, from the default Python index, of which some hundred METADATA are read.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from packaging.version import Version
from snapshot.default_index import DefaultIndex, representatives, system_of
from snapshot.family import FOLDERS, OLDEST, Family
from snapshot.metadata_text import Requires
from snapshot.needed import Needed

from envsolve.index.release import ReleaseFile
from envsolve.index.snapshot_file import FILE, write_snapshot
from envsolve.rulebook.load import rules_dir
from envsolve.rulebook.wheels import load_wheels
from envsolve.settings import load_settings

NAMES = ("torch", "torchvision", "torchaudio")
# The plain wheels of the default index (--source pypi); older ones than this are left to the network.
OLDEST_PLAIN = {"torch": Version("2.6"), "torchvision": Version("0.21"), "torchaudio": Version("2.6")}

Row = tuple[str, str, int | None, str | None, Requires]


def family_texts(index: DefaultIndex) -> dict[tuple[str, str], dict[str, str]]:
    """METADATA of the family's plain wheels by package and version, then by operating system."""
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for name in NAMES:
        files = [f for f in index.files(name) if f.version >= OLDEST[name] and not f.version.is_prerelease]
        chosen = list(representatives(files))
        index.load(chosen)
        for file in chosen:
            texts.setdefault((name, str(file.version)), {})[system_of(file.filename)] = index.text(file)
    return texts


def packed(rows: Iterable[Row]) -> dict[str, Any]:
    """A part of the snapshot: the METADATA that occur, then a row for each file, which names its METADATA by number.

    A row is file name, SHA-256, size in bytes (0 where it is not known), number, Requires-Python on the index or "".
    """
    known: dict[Requires, int] = {}
    files = [
        [filename, sha256, size or 0, known.setdefault(requires, len(known)), python or ""]
        for filename, sha256, size, python, requires in rows
    ]
    return {
        "metadata": [[r.requires_python or "", list(r.requires), list(r.extras)] for r in known],
        "files": files,
    }


def default_rows(index: DefaultIndex, name: str, versions: Iterable[Version]) -> list[Row]:
    """The wheels of some versions on the default index, the newest first; METADATA read once for each system."""
    wanted = set(versions)
    files = [f for f in index.files(name) if f.version in wanted]
    ones = list(representatives(files))
    index.load(ones)
    by_system = {(f.version, system_of(f.filename)): index.requires(f) for f in ones}
    return [
        (f.filename, f.sha256 or "", f.size, _text(f), by_system[f.version, system_of(f.filename)])
        for f in sorted(files, key=lambda file: (file.version, file.filename), reverse=True)
    ]


def _text(file: ReleaseFile) -> str | None:
    return str(file.requires_python) if file.requires_python else None


def family_parts(family: Family) -> Mapping[str, list[Row]]:
    """The rows of the torch family by part: "cu128 torch"."""
    parts: dict[str, list[Row]] = {f"{folder} {name}": [] for folder in FOLDERS for name in NAMES}
    for name in NAMES:
        for wheel, requires in family.held(name):
            parts[f"{wheel.folder} {name}"].append((wheel.filename, wheel.sha256 or "", None, None, requires))
    return {name: rows for name, rows in parts.items() if rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    date = parser.parse_args().date
    index = DefaultIndex(load_settings())
    try:
        family = Family(wheels=load_wheels(), texts=family_texts(index), how=Counter())
        rows = dict(family_parts(family))
        for name in NAMES:
            plain = {f.version for f in index.files(name) if f.version >= OLDEST_PLAIN[name]}
            rows[f"pypi {name}"] = default_rows(index, name, {v for v in plain if not v.is_prerelease})
        needed = Needed(index)
        needed.follow(row[-1] for part in rows.values() for row in part)
        for name, versions in needed.versions.items():
            rows[f"pypi {name}"] = default_rows(index, name, versions)
        path = rules_dir() / FILE
        write_snapshot(path, date, {name: packed(part) for name, part in rows.items()})
    finally:
        index.close()
    total = sum(map(len, rows.values()))
    print(f"wrote {path.name}: {path.stat().st_size} bytes, {len(rows)} parts, {total} wheels, {index.asked} requests")
    print("METADATA of the torch family is known by", dict(family.how))
    for name in sorted(needed.versions):
        print(f"  {name}: {', '.join(str(v) for v in sorted(needed.versions[name]))}")


if __name__ == "__main__":
    main()
