"""Make the reference locks in lockfiles/ again, offline, from the rules and the bundled snapshot.

    python tools/make_lockfiles.py            # write those that differ
    python tools/make_lockfiles.py --check    # write nothing; exit 1 and a diff if one differs

Run it after a change to the rules or to the snapshot. A lock keeps its versions where it can, as everyone's does; with
--upgrade it takes the newest that the snapshot has.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "lockfiles"
_LINUX = "python=3.12,glibc=2.35,os=linux,arch=x86_64"
# The name of each file, and the machine that it is for.
TARGETS = {
    "cpu-ci": f"vendor=none,{_LINUX}",
    "dgx-spark-aarch64": "GB10,driver=580.95.05,python=3.12,glibc=2.39,os=linux,arch=aarch64",
    "gtx-1080-ti": f"GTX 1080 Ti,driver=580.65.06,{_LINUX}",
    "h100": f"H100,driver=580.95.05,{_LINUX}",
    "laptop-rtx-4090": f"RTX 4090 Laptop GPU,driver=550.54.14,{_LINUX}",
    "rtx-5070-ti": f"RTX 5070 Ti,driver=570.86.10,{_LINUX}",
    "t4-driver-535": f"Tesla T4,driver=535.183.01,{_LINUX}",
    "v100": f"Tesla V100,driver=570.86.10,{_LINUX}",
    "windows-rtx-3060": "RTX 3060,driver=572.16,python=3.12,os=windows,arch=x86_64",
}


def make(folder: Path, arguments: Iterable[str] = ()) -> int:
    """Lock every target into a folder with `envsolve lock`; the first exit code that is not 0, or 0.

    An empty cache is used, so that nothing but the snapshot can answer.
    """
    from envsolve.cli.app import run

    with tempfile.TemporaryDirectory() as cache:
        for name, target in TARGETS.items():
            output = folder / f"{name}.txt"
            code = run(
                ["-q", "lock", "--offline", "--cache-dir", cache, "--target", target, "-o", str(output), *arguments]
            )
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(make(FOLDER, sys.argv[1:]))
