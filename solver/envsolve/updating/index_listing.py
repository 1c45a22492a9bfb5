"""Index listing: the pages of the torch family at a base address, read for all variants at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envsolve.errors import OutsideError
from envsolve.index.http import Http
from envsolve.index.page import ACCEPT, Link
from envsolve.index.page_reader import parse_page
from envsolve.redact import redact
from envsolve.regex import regex
from envsolve.updating.listed import FAMILY, VARIANT, Listed, listed

_FOLDER = regex(r"""<a\s[^>]*href\s*=\s*["']?(?:[^"'>\s]*/)?([\w.]+)/["'>\s]""", re.IGNORECASE | re.ASCII)
_ABSENT = (403, 404)  # the PyTorch index answers 403 for what isn't there


def read_listing(base: str, known: Iterable[str], http: Http) -> tuple[Listed, ...]:
    """What <base>/<variant>/<package>/ lists, for the variants that the rules know and those that <base>/ names.

    Raises OutsideError where nothing can be reached, or where no page of the family is.
    """
    base = base.rstrip("/")
    variants = dict.fromkeys((*known, *_named(base, http)))
    found = [entry for variant in variants for package in FAMILY for entry in _page(base, variant, package, http)]
    if not found:
        raise OutsideError(
            f"{redact(base)} lists no wheels of torch",
            hint="--mirror names the base: <base>/cu128/torch/ must be a page",
        )
    return tuple(found)


def _named(base: str, http: Http) -> Iterator[str]:
    """The variants' folders that the index names itself: a new one is in no rule yet."""
    reply = http.get(f"{base}/", {"Accept": "text/html"}, passes=_ABSENT)
    if reply.status not in _ABSENT:
        text = reply.body.decode("utf-8", "replace")
        yield from (name for name in _FOLDER.findall(text) if VARIANT.fullmatch(name))


def _page(base: str, variant: str, package: str, http: Http) -> tuple[Listed, ...]:
    url = f"{base}/{variant}/{package}/"
    reply = http.get(url, {"Accept": ACCEPT}, passes=_ABSENT)
    links: list[Link] = []
    if reply.status not in _ABSENT:
        links = parse_page(reply.body, reply.content_type, reply.url)
    return tuple(entry for entry in listed(links, variant) if entry.variant == variant)
