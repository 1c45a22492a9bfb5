"""The last words of pip 18 to 26 and uv, and what they are taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.environment.child import Ended
from envsolve.environment.failure import explain
from envsolve.errors import EnvsolveError, OutsideError, RefusedError

CASES = [
    (
        "error: Failed to extract archive: torch\n  cause: No space left on device (os error 28)",
        "disk is full",
        OutsideError,
    ),
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "disk is full",
        OutsideError,
    ),
    ("  cause: Hash mismatch for `six==1.17.0`", "not the file that the lock pins", RefusedError),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "not the file", RefusedError),
    ("  cause: HTTP status client error (404 Not Found) for url (http://h/x.whl)", "not there", OutsideError),
    ("ERROR: HTTP error 403 while getting https://h/x.whl", "refuses access", OutsideError),
    ("  cause: invalid peer certificate: UnknownIssuer", "certificate", OutsideError),
    ("  cause: Failed to extract: invalid Zip archive: Could not find EOCD", "truncated or not a wheel", OutsideError),
    ("zipfile.BadZipFile: File is not a zip file", "truncated or not a wheel", OutsideError),
    (
        "ERROR: x-1-cp39-cp39-linux_x86_64.whl is not a supported wheel on this platform.",
        "fits this Python",
        RefusedError,
    ),
    ("ERROR: No matching distribution found for six==1.17.0", "fits this Python", RefusedError),
    ("  cause: tcp connect error: Connection refused (os error 111)", "can't be reached", OutsideError),
    ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "can't be reached", OutsideError),
    ("Invalid requirement: 'torch @ https://h/torch.whl'", "too old to read the lock", OutsideError),
    ("PermissionError: [Errno 13] Permission denied: '/x'", "may not be written", OutsideError),
    (
        "  cause: can.t make `/x`: Read-only file system (os error 30)",
        "may not be written",
        OutsideError,
    ),
    ("thread main panicked", "it failed", OutsideError),
]


@pytest.mark.parametrize(("said", "meaning", "kind"), CASES)
def test_what_is_said_and_what_it_means(said: str, meaning: str, kind: type[EnvsolveError]) -> None:
    error = explain("uv", Ended(code=1, last_lines=tuple(said.splitlines())))
    assert isinstance(error, kind)
    assert meaning in error.message and error.hint
    assert said.splitlines()[-1].strip()[:20] in error.message  # its own words are there as well


def test_credentials_are_not_shown() -> None:
    said = ("ERROR: HTTP error 403 while getting https://user:secret@host/x.whl",)
    assert "secret" not in explain("pip", Ended(code=1, last_lines=said)).message


@given(st.lists(st.text(), max_size=8))
def test_anything_gives_one_line(lines: list[str]) -> None:
    error = explain("pip", Ended(code=1, last_lines=tuple(lines)))
    assert len(error.message.splitlines()) == 1


def test_uvs_reason_is_told_with_what_failed() -> None:
    said = (
        "error: No solution found when resolving dependencies",
        "  cause: Because there is no version of six==1.17.1 and you require six==1.17.1, we can conclude that …",
    )
    message = explain("uv", Ended(code=1, last_lines=said)).message
    assert "No solution found when resolving dependencies: Because there is no version of six==1.17.1" in message
