"""Make rules/torch/wheels.tsv.xz from wheels that were seen: a JSON object a line, as an index reader writes them.

Fields read: url or url_inferred, sha256, conflicting_sha256, metadata_sha256, upload_time. Files that are in the table
already are kept unless the new list has the same path.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from envsolve.rulebook.load import rules_dir
from envsolve.rulebook.wheels import FILE, SeenWheel, load_wheels, pack

COMMENT = """Wheels of the torch family seen on the PyTorch index:
path below /whl/, sha256, sha256 of METADATA, upload time.
source: copy of the index pages as of 2026-03-15 (sonatype-nexus-community/pytorch-pypi gh-pages); later files from
public lock files (certainty: the hash of a lock file is what its author's tool downloaded or the page said)
a hash on which two sources disagree is left out"""


def read_seen(lines: Iterable[str]) -> list[SeenWheel]:
    """The wheels of such a list that have an address below /whl/; those whose address was only inferred come first,
    so that a wheel that was really seen there replaces them."""
    wheels = [wheel for line in lines if line.strip() and (wheel := _seen(json.loads(line))) is not None]
    return sorted(wheels, key=lambda wheel: not wheel.inferred)


def _seen(row: dict[str, object]) -> SeenWheel | None:
    address = row.get("url") or row.get("url_inferred")
    _, found, path = unquote(str(address)).partition("/whl/")
    if not address or not found:
        return None
    sure = "conflicting_sha256" not in row
    return SeenWheel(
        path=path,
        sha256=str(row["sha256"]) if row.get("sha256") and sure else None,
        metadata_sha256=str(row["metadata_sha256"]) if row.get("metadata_sha256") else None,
        upload_time=str(row.get("upload_time") or ""),
        inferred=not row.get("url"),
    )


def main(arguments: list[str]) -> int:
    """Merge the lists named on the command line into the table."""
    if not arguments:
        print("usage: compile_wheels.py SEEN.jsonl...", file=sys.stderr)
        return 2
    target = rules_dir() / FILE
    table = load_wheels() if target.exists() else None
    merged = {} if table is None else {w.path: w for line in table.lines if (w := table.at(line.split("\t")[0]))}
    for argument in arguments:
        with Path(argument).open(encoding="utf-8") as lines:
            merged.update({wheel.path: wheel for wheel in read_seen(lines)})
    target.write_bytes(pack(merged.values(), COMMENT))
    print(f"wrote {len(merged)} wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
