"""Locks that a newer envsolve made: what is not known in them must not be passed over."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import InvalidVersion, Version

from envsolve.errors import InputError


class NewerLockError(InputError):
    """A lock holds what only a newer envsolve knows: it must be neither installed nor overwritten by this one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="pip install --upgrade envsolve")


def newer_error(what: str, made_by: str, unknown: Sequence[str], running: str) -> NewerLockError | None:
    """The error for unknown keys in a file that a newer envsolve made; None if this one is as new."""
    try:
        newer = Version(made_by) > Version(running)
    except InvalidVersion:
        newer = True
    if not newer:
        return None
    keys = ", ".join(repr(key) for key in dict.fromkeys(unknown))
    return NewerLockError(
        f"{what} was made by envsolve {made_by} and holds what this one ({running}) doesn't know: {keys}"
    )
