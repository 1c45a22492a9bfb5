"""Users: the running programs that use a build, so that it isn't removed under them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")


def users(build: Path) -> tuple[int, ...]:
    """The ids of processes whose interpreter or loaded libraries are in the build. Linux only; elsewhere empty.

    `envsolve envs run` holds a build by itself; this finds programs that were started from an activated shell.
    """
    return tuple(sorted(pid for pid in _processes() if pid != os.getpid() and _uses(_PROC / str(pid), build)))


def _processes() -> Iterator[int]:
    try:
        names = [entry.name for entry in _PROC.iterdir()]
    except OSError:  # no such system here
        return
    yield from (int(name) for name in names if name.isdigit())


def _uses(process: Path, build: Path) -> bool:
    inside = os.fsencode(build) + b"/"
    try:
        if (process / "cmdline").read_bytes().startswith(inside) or inside in (process / "maps").read_bytes():
            return True
        # A Python found through PATH has a bare name, and is a link to one outside: the shell that started it tells.
        is_python = (process / "exe").readlink().name.startswith("python")
        activated = {name + os.fsencode(build) for name in (b"VIRTUAL_ENV=", b"CONDA_PREFIX=")}
        return is_python and not activated.isdisjoint((process / "environ").read_bytes().split(b"\0"))
    except OSError:  # it has ended, or is another user's
        return False
