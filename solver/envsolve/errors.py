"""The errors that envsolve shows: what was wrong and where, and the command to try."""

from envsolve.redact import redact


class EnvsolveError(Exception):
    """Base of all errors meant for people: a lower-case message without a full stop, and a hint (may be empty).

    Both quote what people wrote, in files and on the command line: addresses lose their credentials here.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = redact(message)
        self.hint = redact(hint)
        super().__init__(self.message)


class InputError(EnvsolveError):
    """Wrong usage or bad input: a file, an option, a rule, a spec (exit 2; nothing was written)."""

    exit_code = 2


class OutsideError(EnvsolveError):
    """Network, disk or another tool failed (exit 3; nothing is half-made)."""

    exit_code = 3


class RefusedError(EnvsolveError):
    """The answer is no: no plan, verification failed, a stale lock (exit 1)."""

    exit_code = 1


class UnreadableError(OutsideError):
    """METADATA of a wheel holds what can't be read: another version may do."""


class OfflineError(OutsideError):
    """Offline, and neither the cache nor the snapshot holds what is needed."""
