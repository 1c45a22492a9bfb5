"""Whether a lock still answers its inputs: the packages and the target count, not the header."""

from __future__ import annotations

from difflib import unified_diff

from envsolve.errors import InputError
from envsolve.lock import formats
from envsolve.lock.lock import Lock


def difference(old: str, new: str, filename: str) -> str:
    """A diff between two texts of a lock; "" where they hold the same packages for the same targets."""
    if _substance(old, filename) == _substance(new, filename):
        return ""
    lines = unified_diff(old.splitlines(), new.splitlines(), f"{filename} (as it is)", f"{filename} (now)", lineterm="")
    return "\n".join(lines)


def _substance(text: str, filename: str) -> object:
    try:
        locks = formats.format_of(filename).read(text, filename)
    except InputError:
        return [line for line in text.splitlines() if not line.startswith("#")]
    return [_target_and_packages(lock) for lock in locks]


def _target_and_packages(lock: Lock) -> object:
    return (lock.python, lock.platform, lock.variant, lock.packages, lock.conda)
