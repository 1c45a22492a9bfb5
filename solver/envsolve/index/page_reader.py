"""The reader of index pages: PEP 503 HTML and PEP 691 JSON. Not loaded where what a page said is cached."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

from msgspec import DecodeError, Struct, field
from msgspec.json import Decoder

from envsolve.errors import OutsideError
from envsolve.index.page import Choose, Link
from envsolve.record import record
from envsolve.redact import redact, strip_credentials
from envsolve.regex import regex
from envsolve.settings import PYTORCH_HOSTS

_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")

# pypi-simple reads HTML through BeautifulSoup: a quarter of a second to import and 60 microseconds a link. These
# expressions take 10 microseconds a link, and a page of the PyTorch index has up to 2,855 (benchmarks/index_pages.py).
_ANCHOR = regex(r"""<a\s((?:[^'">]|"[^"]*"|'[^']*')*)>""", re.IGNORECASE)
_ATTRIBUTE = regex(r"""([^\s"'=<>/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))|([^\s"'=<>/]+)""")
_COMMENT = regex(r"<!--.*?-->", re.DOTALL)
_BASE = regex(r"""<base\s[^>]*?href\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_VERSION_META = regex(r"""<meta[^>]*pypi:repository-version[^>]*content\s*=\s*["']?(\d+)""", re.IGNORECASE)
_Listed = TypeVar("_Listed")
_SHA256 = regex(r"(?:^|&)sha256=([0-9a-fA-F]{64})(?:&|$)")


class _File(Struct, gc=False):
    """A file of a JSON page, as it came: an odd value of a field that matters little leaves the rest readable.

    What isn't named here is passed over without being made: most of a page, in a third of the time that json takes.
    """

    filename: str
    url: str
    hashes: dict[str, Any]
    yanked: Any = False
    requires_python: Any = field(name="requires-python", default=None)
    core_metadata: Any = field(name="core-metadata", default=None)
    dist_info_metadata: Any = field(name="dist-info-metadata", default=None)
    size: Any = None


class _Meta(Struct):
    api_version: str = field(name="api-version")


class _Page(Struct):
    meta: _Meta
    files: list[_File]


_PAGE = Decoder(_Page)
_BOM = b"\xef\xbb\xbf"


@record
class IndexPage:
    """A page that was read: links are made of the files that are wanted only, since a page may list thousands."""

    url: str
    html: Sequence[Link] = ()  # the files of one of the two forms
    json: Sequence[_File] = ()

    def links(self, choose: Choose | None = None) -> list[Link]:
        """The links of the files that `choose` picks, else all."""
        if self.html:
            return _picked(self.html, [link.filename for link in self.html], choose)
        resolve = _Resolver(self.url)
        files = _picked(self.json, [file.filename for file in self.json], choose)
        return [_json_link(file, resolve) for file in files]


def _picked(files: Sequence[_Listed], names: Sequence[str], choose: Choose | None) -> list[_Listed]:
    return list(files) if choose is None else [files[place] for place in choose(names)]


def read_page(body: bytes, content_type: str, url: str) -> IndexPage:
    """Read a page. Raises OutsideError for what is no index page, such as a portal's log-in page."""
    if "json" in content_type.lower() or body[:1] == b"{":
        return IndexPage(url=url, json=_json_files(body, url))
    text = body.decode("utf-8", errors="replace")
    links = list(_parse_html(text, url))
    if not links and not _looks_like_index(text):
        raise OutsideError(
            f"{redact(url)} answered with a page that is no index page",
            hint="look at it in a browser: a proxy or a log-in page may stand in between",
        )
    return IndexPage(url=url, html=links)


def parse_page(body: bytes, content_type: str, url: str) -> list[Link]:
    """All links of a page. Raises OutsideError as `read_page` does."""
    return read_page(body, content_type, url).links()


def _looks_like_index(text: str) -> bool:
    """An empty page of a project, or a list of folders."""
    head = text[:4000].lower()
    return any(sign in head for sign in ("links for", "pypi:repository-version", "index of", "directory listing"))


def _parse_html(text: str, url: str) -> Iterator[Link]:
    _check_version(_VERSION_META.search(text[:4000]), url)
    if "<!--" in text:
        text = _COMMENT.sub("", text)
    base = _BASE.search(text[:4000])
    resolve = _Resolver(urljoin(url, html.unescape(base[1])) if base else url)
    for anchor in _ANCHOR.finditer(text):
        attributes = {
            (name or bare).lower(): html.unescape(a or b or c) for name, a, b, c, bare in _ATTRIBUTE.findall(anchor[1])
        }
        href, _, fragment = attributes.get("href", "").partition("#")
        path = href.partition("?")[0]
        if not path.endswith(_ARCHIVES):
            continue
        found = _SHA256.search(fragment)
        yield Link(
            filename=unquote(path.rsplit("/", 1)[-1]),
            url=resolve(href),
            sha256=found[1].lower() if found else None,
            metadata=_metadata_attribute(attributes),
            requires_python=attributes.get("data-requires-python"),
            yanked=attributes.get("data-yanked"),
        )


def _metadata_attribute(attributes: dict[str, str]) -> str | None:
    """The hash of METADATA (not of the wheel), "" if it is offered without one."""
    value = attributes.get("data-core-metadata", attributes.get("data-dist-info-metadata"))
    if value is None or value == "false":
        return None
    found = _SHA256.search(value)
    return found[1].lower() if found else ""


def _json_files(body: bytes, url: str) -> list[_File]:
    try:
        page = _PAGE.decode(body.removeprefix(_BOM))
    except DecodeError as error:
        raise _not_json_page(url) from error
    _check_version(re.match(r"(\d+)", page.meta.api_version), url)
    return page.files


def _not_json_page(url: str) -> OutsideError:
    return OutsideError(f"{redact(url)} answered with JSON that is no index page")


def _json_link(file: _File, resolve: _Resolver) -> Link:
    metadata, yanked, size = file.core_metadata, file.yanked, file.size
    if metadata is None:
        metadata = file.dist_info_metadata
    return Link(
        filename=file.filename,
        url=resolve(file.url.partition("#")[0]),
        sha256=file.hashes.get("sha256"),
        metadata=metadata.get("sha256", "") if isinstance(metadata, dict) else "" if metadata else None,
        requires_python=str(file.requires_python) if file.requires_python else None,
        yanked=yanked if isinstance(yanked, str) else "" if yanked else None,
        size=size if isinstance(size, int) else None,
    )


def _check_version(found: re.Match[str] | None, url: str) -> None:
    if found and int(found[1]) > 1:
        raise OutsideError(f"{redact(url)} speaks version {found[1]} of the index protocol; envsolve knows 1")


class _Resolver:
    """Makes links absolute: urljoin, with a short cut for the two forms that nearly every link has."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(strip_credentials(base))
        self._base = strip_credentials(base)
        self._host = f"{parts.scheme}://{parts.netloc}"

    def __call__(self, href: str) -> str:
        if href.startswith(("https://", "http://")):
            return _one_host(strip_credentials(href) if "@" in href else href)
        if href.startswith("/") and not href.startswith("//"):
            return _one_host(self._host + href)
        return _one_host(urljoin(self._base, href))


def _one_host(url: str) -> str:
    """The PyTorch index's two hosts serve the same files: one name for both keeps locks the same."""
    first, *others = PYTORCH_HOSTS
    for host in others:
        url = url.replace(f"://{host}/", f"://{first}/", 1)
    return url
