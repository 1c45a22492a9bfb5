"""Redact: addresses as people may see them, without credentials."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit, urlunsplit

from envsolve.regex import regex

_USERINFO = regex(r"(?<=://)[^/?#\s]*@")


def redact(text: str) -> str:
    """The text with the credentials of every address in it replaced by ****."""
    return _USERINFO.sub("****@", text)


def strip_credentials(url: str) -> str:
    """An address without user name and password."""
    return _USERINFO.sub("", url, count=1)


def credentials(url: str) -> tuple[str, str] | None:
    """The user name and password in an address, decoded; None if it has none."""
    parts = urlsplit(url)
    if parts.username is None and parts.password is None:
        return None
    return unquote(parts.username or ""), unquote(parts.password or "")


def origin(url: str) -> str:
    """Scheme, host and port: what credentials belong to."""
    parts = urlsplit(strip_credentials(url))
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), "", "", ""))
