"""Whole files, streamed: for hashes that no index gives, and for servers that don't speak Range."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from envsolve.errors import OutsideError
from envsolve.index.http import Http, pieces
from envsolve.index.release import ReleaseFile
from envsolve.redact import redact

if TYPE_CHECKING:
    from requests import Response

_ZIP_MAGIC = b"PK"
Signs = list[str | None]


def stream(http: Http, file: ReleaseFile, to: IO[bytes] | None = None) -> tuple[str, Signs | None]:
    """Read a file once: its SHA-256 (hex) and the server's signs of it. Its bytes go to `to`, if given.

    Raises OutsideError where a web page or other bytes than the index promised come.
    """
    digest = hashlib.sha256()
    with http.open(file.url) as answer:
        found = _checked(answer, file)
        for number, piece in enumerate(pieces(answer, file.url)):
            if number == 0 and file.is_wheel and not piece.startswith(_ZIP_MAGIC):
                raise not_a_wheel(file)
            digest.update(piece)
            if to is not None:
                to.write(piece)
    if file.sha256 is not None and digest.hexdigest() != file.sha256:
        raise OutsideError(
            f"{redact(file.url)} has the hash {digest.hexdigest()}, and the index says {file.sha256}",
            hint="a proxy or mirror sends other bytes than the index promises: try another --mirror",
        )
    return digest.hexdigest(), found


def signs(headers: Mapping[str, str]) -> Signs | None:
    """What tells later whether a file is still the same; None if the server says nothing of the kind."""
    found = [headers.get(name) for name in ("etag", "last-modified", "content-length")]
    return found if found[0] or found[1] else None


def _checked(answer: Response, file: ReleaseFile) -> Signs | None:
    if answer.status_code == 404:
        raise OutsideError(f"{redact(file.url)} is listed and not there (404)")
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise not_a_wheel(file)
    return signs(answer.headers)


def not_a_wheel(file: ReleaseFile) -> OutsideError:
    """The error for a log-in page, or anything else, in place of a file."""
    return OutsideError(
        f"{redact(file.url)} answered with something that is not {file.filename}",
        hint="open it in a browser: a proxy or a log-in page may stand in between",
    )
