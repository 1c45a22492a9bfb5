"""From a link to a ReleaseFile."""

from __future__ import annotations

import re
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envsolve.index.fitting import canonical, sdist_version, split_wheel_name, version
from envsolve.index.lenient import lenient_specifiers
from envsolve.index.page import Link
from envsolve.index.release import ReleaseFile, tags_of
from envsolve.regex import regex

_BUILD = regex(r"(\d+)(.*)", re.ASCII)


def release_file(link: Link, name: str, source: str, base: str = "") -> ReleaseFile | None:
    """The file behind a link; None if it is no wheel or source archive of the package `name` (canonical).

    `base` is the base of the PyTorch index that listed it, if one did: it tells the variant's folder.
    """
    if not link.filename.endswith(".whl"):
        return _sdist(link, name, source)
    parts = split_wheel_name(link.filename)
    if parts is None or canonical(parts.name) != name:
        return None
    number = version(parts.version)
    if number is None:
        return None
    build = _BUILD.fullmatch(parts.build)
    return ReleaseFile(
        name=name,
        version=number,
        filename=link.filename,
        url=link.url,
        source=source,
        sha256=link.sha256,
        metadata_sha256=link.metadata,
        requires_python=specifiers(link.requires_python),
        tags=tags_of(parts.tag),
        build=(int(build[1]), build[2]) if build else (),
        yanked=link.yanked,
        size=link.size,
        folder=folder_of(link.url, name, base) if base else None,
    )


def _sdist(link: Link, name: str, source: str) -> ReleaseFile | None:
    number = version(sdist_version(link.filename, name) or "")
    if number is None:
        return None
    return ReleaseFile(
        name=name,
        version=number,
        filename=link.filename,
        url=link.url,
        source=source,
        sha256=link.sha256,
        metadata_sha256=link.metadata,
        requires_python=specifiers(link.requires_python),
        yanked=link.yanked,
        size=link.size,
    )


@lru_cache(maxsize=4096)
def specifiers(text: str | None) -> SpecifierSet | None:
    """A Requires-Python; None where there is none, or one that isn't valid (pip passes over it as well)."""
    if not text:
        return None
    try:
        return lenient_specifiers(text)
    except InvalidSpecifier:
        return None


def folder_of(url: str, name: str, base: str) -> str | None:
    """The folder of the PyTorch index that a file lies in: "cu128", "" for the root, None for other places.

    Pages list files of the root and of other hosts beside those of their own folder; only the address tells.
    """
    if url.startswith(f"{base}/"):
        path = url[len(base) + 1 :]
    elif "/whl/" in url:
        path = url.rpartition("/whl/")[2]
    else:
        return None
    folder = path.rpartition("/")[0]
    return folder.removesuffix(name).rstrip("/")
