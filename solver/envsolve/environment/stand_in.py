"""Stand-in: a path that is always the same and leads to whichever build is being filled.

uv asks an interpreter at a path that it hasn't seen before what it is, which takes longer than installing thirty small
wheels, and remembers the answer by that path and by the file that it leads to in the end. Each build has a path of its
own; through a link that is always at the same place, uv knows its interpreter already. Nothing that it writes may hold
that path then, so only relocatable environments are filled in this way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from envsolve.environment.hold import try_hold
from envsolve.errors import OutsideError

# So many runs can fill at once by a path that uv knows; any further one goes by its build's own.
_PLACES = 8


@contextmanager
def stand_in(build: Path, links: Path, locks: Path) -> Iterator[tuple[Path, tuple[int, ...]]]:
    """A path to `build` for the block, and the descriptors that an installer must inherit for as long as it uses it.

    `links` and `locks` are the folders for the link and for its lock. It is the build's own path where no link can be
    made.
    """
    found = None if sys.platform == "win32" else _link(build, links, locks)
    if found is None:
        yield build, ()
        return
    link, held = found
    try:
        yield link, (held,)
    finally:
        with suppress(OSError):
            link.unlink()
        os.close(held)


def _link(build: Path, links: Path, locks: Path) -> tuple[Path, int] | None:
    """A link to `build` that nobody else uses, and the descriptor of its lock."""
    for number in range(_PLACES):
        with suppress(OSError, OutsideError):
            held = try_hold(locks / f"filling-{number}.lock")
            if held is not None:
                return _pointed(links / str(number), build, held), held
    return None


def _pointed(link: Path, build: Path, held: int) -> Path:
    try:
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)  # a run that was killed leaves its own
        link.symlink_to(build, target_is_directory=True)
    except OSError:
        os.close(held)
        raise
    return link
