"""Pages: the links of an index page, from the cache or the network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from urllib.parse import urlsplit

from envsolve.errors import OutsideError
from envsolve.index.cache import Cache, Entry
from envsolve.index.configuration.redact import redact
from envsolve.index.http import Http, Reply
from envsolve.index.limits import ABSENT_SECONDS, PAGE_SECONDS
from envsolve.index.page import ACCEPT, Link, parse_page
from envsolve.settings import PYTORCH_HOSTS, Settings

_PAGE, _VIEW = "page", "view"
Choose = Callable[[list[Link]], list[Link]]


class Pages:
    """The links of pages on the web. A page is asked for every ten minutes, and parsed once while it is the same.

    Beside each parsed page the cache holds views: the few links of it that one target may use.
    """

    def __init__(self, settings: Settings, http: Http, cache: Cache) -> None:
        self._settings = settings
        self._http = http
        self._cache = cache
        # Pages checked in this run: --refresh asks for each only once.
        self._checked: set[str] = set()

    def is_fresh(self, url: str) -> bool:
        """Whether the cache alone can answer."""
        return self._fresh(url, self._cache.read(_PAGE, url, body=False))

    def links(self, url: str, view: str, choose: Choose) -> list[Link] | None:
        """The links that `choose` leaves of a page; None if there is no such page.

        `view` names the choice in the cache. Raises OutsideError for an address that can't be reached, that wants a
        log-in, or that answers with something else, and for a page that isn't cached when offline.
        """
        stamp, links = self._current(url)
        if not stamp:
            return None
        key = f"{view} {url}"
        kept = self._view(key, stamp) if links is None else None
        if kept is None:
            kept = choose(self._body(url) if links is None else links)
            self._cache.write(_VIEW, key, {"stamp": stamp}, kept)
        return kept

    def _view(self, key: str, stamp: str) -> list[Link] | None:
        entry = self._cache.read(_VIEW, key)
        return _links(entry.body) if entry is not None and entry.head.get("stamp") == stamp else None

    def _fresh(self, url: str, entry: Entry | None) -> bool:
        if entry is None:
            return False
        if self._settings.offline or url in self._checked:
            return True
        limit = PAGE_SECONDS if entry.head.get("stamp") else ABSENT_SECONDS
        return not self._settings.refresh and entry.age < limit

    def _current(self, url: str) -> tuple[str, list[Link] | None]:
        """The stamp of a page as it is now, "" if there is none, and its links where it was just fetched."""
        entry = self._cache.read(_PAGE, url, body=False)
        if entry is None or not self._fresh(url, entry):
            return self._fetch(url, entry)
        return str(entry.head.get("stamp", "")), None

    def _body(self, url: str) -> list[Link]:
        """All links of a page that is in the cache; asked for again if they can't be read there."""
        entry = self._cache.read(_PAGE, url)
        links = _links(entry.body) if entry is not None else None
        return links if links is not None else self._fetch(url, None)[1] or []

    def _fetch(self, url: str, entry: Entry | None) -> tuple[str, list[Link] | None]:
        """Ask for a page and keep it: its stamp, and its links unless those in the cache still hold."""
        if self._settings.offline:
            raise OutsideError(f"offline, and {redact(url)} is not in the cache", hint="run once without --offline")
        known = None if self._settings.refresh else entry
        reply = self._http.get(url, _conditions(known), passes=(403,) if _is_pytorch(url) else ())
        self._checked.add(url)
        if reply.status == 304 and known is not None:
            self._cache.touch(_PAGE, url)
            return str(known.head.get("stamp", "")), None
        return self._keep(url, reply)

    def _keep(self, url: str, reply: Reply) -> tuple[str, list[Link]]:
        if reply.status in (403, 404):
            self._cache.write(_PAGE, url, {"stamp": ""}, [])
            return "", []
        links = parse_page(reply.body, reply.content_type, reply.url)
        stamp = hashlib.sha256(json.dumps(links).encode()).hexdigest()[:16]
        conditions = {name: reply.headers[name] for name in ("etag", "last-modified") if name in reply.headers}
        self._cache.write(_PAGE, url, {"stamp": stamp, **conditions}, links)
        return stamp, links


def _conditions(entry: Entry | None) -> dict[str, str]:
    head = entry.head if entry is not None else {}
    asked = {"If-None-Match": head.get("etag"), "If-Modified-Since": head.get("last-modified")}
    return {"Accept": ACCEPT, **{name: str(value) for name, value in asked.items() if value}}


def _links(body: object) -> list[Link] | None:
    """Links as the cache holds them; None if they are not of that shape."""
    try:
        return [Link(*row) for row in body]  # type: ignore[attr-defined]
    except TypeError:
        return None


def _is_pytorch(url: str) -> bool:
    """The PyTorch index answers 403, not 404, for what isn't there."""
    return urlsplit(url).hostname in PYTORCH_HOSTS
