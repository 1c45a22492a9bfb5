"""Pages: the links of an index page, from the cache or the network."""

from __future__ import annotations

import hashlib
import threading
import time
from urllib.parse import urlsplit

from envsolve.errors import OfflineError, OutsideError
from envsolve.index.cache import Cache, Entry
from envsolve.index.http import Http, Reply
from envsolve.index.limits import ABSENT_SECONDS, PAGE_SECONDS
from envsolve.index.page import ACCEPT, Choose, Link
from envsolve.record import record
from envsolve.redact import redact
from envsolve.settings import PYTORCH_HOSTS, Settings

_PAGE, _VIEW = "page", "view"
# To read a smaller page anew takes a millisecond or two, and to make a file takes not much less.
_LARGE_PAGE = 128 * 1024
_PARSED_AT_ONCE = 1


@record
class _Chosen:
    """The wanted links of a page that was read, and whether to read it again would take long."""

    links: list[Link]
    large: bool


class Pages:
    """The links of pages on the web. A page is asked for every ten minutes, and parsed once while it is the same.

    Beside each page the cache holds views: the few links of it that one target may use.
    """

    def __init__(self, settings: Settings, http: Http, cache: Cache) -> None:
        self._settings = settings
        self._http = http
        self._cache = cache
        # Pages checked in this run, with their stamps: --refresh asks for each only once.
        self._checked: dict[str, str] = {}
        self._parsing = threading.Semaphore(_PARSED_AT_ONCE)

    def is_fresh(self, url: str) -> bool:
        """Whether the cache alone can answer."""
        return self._settings.offline or url in self._checked or self._fresh(self._cache.read(_PAGE, url, body=False))

    def is_unchanged(self, url: str, stamp: str, mark: int) -> bool:
        """Whether the page is still the one of this stamp. Asks for it if it isn't fresh; raises as `links` does.

        `mark` is what `mark` said then: where that is the same, the cached page is not even opened.
        """
        known = url in self._checked or self._settings.refresh
        if not known and mark and self._cache.mark(_PAGE, url) == mark and self._young(stamp, mark):
            return True
        return self.stamp(url) == stamp

    def mark(self, url: str) -> int:
        """A number for `is_unchanged`."""
        return self._cache.mark(_PAGE, url)

    def stamp(self, url: str) -> str:
        """Names the content of a page as it is now, "" if there is none. Raises OutsideError as `links` does."""
        return self._current(url)[0]

    def links(self, url: str, view: str, choose: Choose) -> list[Link] | None:
        """The links that `choose` leaves of a page; None if there is no such page.

        `view` names the choice in the cache. Raises OutsideError for an address that can't be reached, that wants a
        log-in, or that answers with something else, and OfflineError for a page that isn't in the cache when offline.
        """
        stamp, chosen = self._current(url, choose)
        if not stamp:
            return None
        key = f"{view} {url}"
        kept = self._view(key, stamp) if chosen is None else None
        if kept is not None:
            return kept
        chosen = chosen or self._cached(url, choose) or self._fetch(url, None, choose)[1]
        if chosen is not None and chosen.large:
            self._cache.write(_VIEW, key, {"stamp": stamp}, chosen.links)
        return chosen.links if chosen is not None else []

    def _view(self, key: str, stamp: str) -> list[Link] | None:
        entry = self._cache.read(_VIEW, key)
        return _links(entry.body) if entry is not None and entry.head.get("stamp") == stamp else None

    def _cached(self, url: str, choose: Choose) -> _Chosen | None:
        """What is wanted of the page in the cache; None if it can't be read there."""
        entry = self._cache.read(_PAGE, url, raw=True)
        try:
            return self._read(entry.body, entry.head["type"], entry.head["url"], choose) if entry is not None else None
        except (OutsideError, KeyError):
            self._cache.drop(_PAGE, url)
            return None

    def _read(self, body: bytes, content_type: str, url: str, choose: Choose | None) -> _Chosen:
        """Read a page, few at once: parsed, a page takes some ten times its size, and threads don't parse faster."""
        from envsolve.index.page_reader import read_page

        with self._parsing:
            page = read_page(body, content_type, url)
            return _Chosen(links=page.links(choose) if choose else [], large=len(body) >= _LARGE_PAGE)

    def _young(self, stamp: str, mark: int) -> bool:
        limit = PAGE_SECONDS if stamp else ABSENT_SECONDS
        return self._settings.offline or time.time() - mark / 1e9 < limit

    def _fresh(self, entry: Entry | None) -> bool:
        if entry is None or self._settings.refresh:
            return False
        return entry.age < (PAGE_SECONDS if entry.head.get("stamp") else ABSENT_SECONDS)

    def _current(self, url: str, choose: Choose | None = None) -> tuple[str, _Chosen | None]:
        """The stamp of a page as it is now, "" if there is none, and its links where it was just fetched."""
        if url in self._checked:
            return self._checked[url], None
        entry = self._cache.read(_PAGE, url, body=False)
        if entry is not None and (self._settings.offline or self._fresh(entry)):
            return str(entry.head.get("stamp", "")), None
        return self._fetch(url, entry, choose)

    def _fetch(self, url: str, entry: Entry | None, choose: Choose | None) -> tuple[str, _Chosen | None]:
        """Ask for a page and keep it: its stamp, and its links unless the one in the cache still holds."""
        if self._settings.offline:
            raise OfflineError(f"offline, and {redact(url)} is not in the cache", hint="run once without --offline")
        known = None if self._settings.refresh else entry
        reply = self._http.get(url, _conditions(known), passes=(403,) if _is_pytorch(url) else ())
        if reply.status == 304 and known is not None:
            self._cache.touch(_PAGE, url)
            self._checked[url] = str(known.head.get("stamp", ""))
            return self._checked[url], None
        stamp, chosen = self._keep(url, reply, choose)
        self._checked[url] = stamp
        return stamp, chosen

    def _keep(self, url: str, reply: Reply, choose: Choose | None) -> tuple[str, _Chosen | None]:
        if reply.status in (403, 404):
            self._cache.write(_PAGE, url, {"stamp": ""}, b"")
            return "", None
        chosen = self._read(reply.body, reply.content_type, reply.url, choose)
        stamp = hashlib.sha256(reply.body).hexdigest()[:16]
        conditions = {name: reply.headers[name] for name in ("etag", "last-modified") if name in reply.headers}
        head = {"stamp": stamp, "type": reply.content_type, "url": reply.url, **conditions}
        self._cache.write(_PAGE, url, head, reply.body)
        return stamp, chosen if choose else None


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
