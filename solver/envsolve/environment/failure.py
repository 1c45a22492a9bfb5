"""Failure: what an installer's last words mean, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from envsolve.environment.child import Ended
from envsolve.errors import EnvsolveError, OutsideError, RefusedError
from envsolve.record import record
from envsolve.regex import regex
from envsolve.settings import redact


class OtherBytes(RefusedError):
    """A file that was sent is not the one that the lock pins."""


class NotListed(RefusedError):
    """The installer sees no file that the lock pins: there is none, or its page of the index is older."""


@record
class _Meaning:
    pattern: str  # compiled when something has failed, not before
    text: str
    hint: str
    error: type[EnvsolveError]

    def means(self, line: str) -> bool:
        return re.search(self.pattern, line, re.IGNORECASE) is not None


def _row(pattern: str, text: str, hint: str, error: type[EnvsolveError] = OutsideError) -> _Meaning:
    return _Meaning(pattern=pattern, text=text, hint=hint, error=error)


# The first row that matches decides: the narrow ones stand before the wide ones.
_MEANINGS = (
    _row(
        r"no space left on device|os error 28\b|not enough space on the disk|disk quota exceeded|os error 122\b",
        "the disk is full",
        "free some space, or move the cache and the environments: ENVSOLVE_HOME, UV_CACHE_DIR, PIP_CACHE_DIR, TMPDIR",
    ),
    _row(
        r"file too large|errno 27\b|os error 27\b|file size limit exceeded",
        "a file may not become that large here",
        "ulimit -f shows the limit (a batch system's?); in kilobytes, unlimited for none",
    ),
    _row(
        r"do not match the hashes|hash mismatch|hashes? .*mismatch|mismatch.*hash",
        "what the index sent is not the file that the lock pins (other bytes: a changed file, a truncated download, or "
        "an error page of a mirror or proxy); nothing of it was kept",
        "try again or without --mirror; if the file has changed, or the lock was edited, make a new one: "
        "envsolve lock --refresh",
        OtherBytes,
    ),
    _row(
        r"invalid requirement: '.* @ ",
        "the pip that comes with this Python is too old to read the lock (it needs pip 19.1)",
        "pip install uv, then the same command with --installer uv",
    ),
    _row(
        r"certificate|ssl error|tls handshake|unknownissuer",
        "the index's certificate isn't trusted here",
        "point SSL_CERT_FILE (or PIP_CERT) at the CA bundle of your network",
    ),
    _row(
        r"\b401\b|\b403\b|unauthorized|forbidden",
        "the index refuses access",
        "check the credentials in netrc, the keyring or the index URL",
    ),
    _row(
        r"\b404\b|not found: http|no such file or directory.*\.whl|file not found.*\.whl",
        "a file of the lock is not there (any more)",
        "make a new lock: envsolve lock --refresh",
    ),
    _row(
        r"bad ?zip ?file|invalid (zip|wheel)|not a zip|truncated|unexpected eof|incomplete|zip archive|"
        r"connection broken|premature|body from connection|end of file before|end of central directory",
        "a download is truncated or not a wheel at all (an error page of a mirror or proxy?)",
        "run the same command again; with a mirror, try once without --mirror",
    ),
    _row(
        r"not a supported wheel|not compatible with|no wheels with a matching|no compatible|"
        r"no matching distribution|only-binary|has no usable wheels|no solution found|requires-python",
        "the lock has no file that fits this Python and platform, or the index doesn't list the pinned one",
        "check that the lock is for this machine (its header says), or try the other installer: --installer uv|pip",
        NotListed,
    ),
    _row(
        r"timed? ?out|connection (refused|reset|aborted|error)|dns error|name resolution|temporary failure|"
        r"error sending request|network is unreachable|max retries|failed to connect|getaddrinfo",
        "the index can't be reached",
        "check the network and proxy, or use --mirror URL, --index URL or --find-links DIR",
    ),
    _row(
        r"permission denied|os error 13\b|read-only file system|os error 30\b",
        "a folder may not be written",
        "check its owner, or name others: ENVSOLVE_HOME, UV_CACHE_DIR, PIP_CACHE_DIR, TMPDIR",
    ),
)
_WHY = regex(r"\W*(cause: )?(?=because )", re.IGNORECASE)
_UNKNOWN = _row("", "it failed", "run it again as `envsolve -v install …` to see all that it said")


def is_known(lines: Iterable[str]) -> bool:
    """Whether some line has a meaning that `explain` knows."""
    return any(m.means(line) for m in _MEANINGS for line in lines)


def explain(tool: str, ended: Ended) -> EnvsolveError:
    """The error for an installer that ended with a code other than 0; its own decisive line is part of the message."""
    said = [line for line in ended.last_lines if line.strip()]
    meaning = next((m for m in _MEANINGS if any(map(m.means, said))), _UNKNOWN)
    own = _decisive(said, meaning)
    return meaning.error(f"{tool}: {meaning.text}: {own}" if own else f"{tool}: {meaning.text}", hint=meaning.hint)


def _decisive(said: list[str], meaning: _Meaning) -> str:
    matching = [line for line in said if meaning is not _UNKNOWN and meaning.means(line)]
    chosen = matching[0] if matching else "; ".join(said[-3:])
    why = next((line for line in said if _WHY.match(line)), "")  # uv tells it below "No solution found"
    if matching and why and why != chosen:
        chosen = f"{chosen}: {_WHY.sub('', why)}"
    return redact(" ".join(chosen.split()))
