"""Large blocks: pages of megabytes go back to the operating system when they have been read."""

from __future__ import annotations

import contextlib
import sys

# mallopt(3): from this size on a block is mapped on its own. glibc starts so, but raises the limit with the first large
# block that is freed; from then on each of sixteen threads keeps the room that its largest page took.
_M_MMAP_THRESHOLD = -3
_BYTES = 128 * 1024


def map_large_blocks() -> None:
    """Keep glibc's limit where it starts: a third less memory for a cold lock. Nothing elsewhere."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _BYTES)
