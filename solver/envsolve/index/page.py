"""Link: one file as an index page lists it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{JSON_TYPE}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


class Link(NamedTuple):
    """One file as a page lists it, cheap to make and to cache; every field but the first two may be None.

    `url` is absolute, without fragment and credentials; `metadata` is "" where METADATA is offered without a hash.
    """

    filename: str
    url: str
    sha256: str | None = None
    metadata: str | None = None
    requires_python: str | None = None
    yanked: str | None = None
    size: int | None = None


# From the file names of a page, in its order, to the places of those that are wanted.
Choose = Callable[[Sequence[str]], Iterable[int]]
