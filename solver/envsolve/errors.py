"""The errors that envsolve shows: what was wrong and where, and the command to try."""


class EnvsolveError(Exception):
    """Base of all errors meant for people: a lower-case message without a full stop, and a hint (may be empty)."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(EnvsolveError):
    """Wrong usage or bad input: a file, an option, a rule, a spec (exit 2; nothing was written)."""

    exit_code = 2


class OutsideError(EnvsolveError):
    """Network, disk or another tool failed (exit 3; nothing is half-made)."""

    exit_code = 3


class RefusedError(EnvsolveError):
    """The answer is no: no plan, verification failed, a stale lock (exit 1)."""

    exit_code = 1


class OfflineError(OutsideError):
    """Offline, and neither the cache nor the snapshot holds what is needed."""
