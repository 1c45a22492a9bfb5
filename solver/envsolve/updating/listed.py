"""Listed: what an index has of the torch family, one entry for the files of a version, variant and platform."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from envsolve.index.page import Link
from envsolve.record import record
from envsolve.regex import regex

FAMILY = ("torch", "torchvision", "torchaudio")
VARIANT = regex(r"cpu|xpu|cu\d{2,3}|rocm\d+(?:\.\d+)+", re.ASCII)
_PYTHON = regex(r"cp3(\d{1,2})", re.ASCII)
_GLIBC = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_PLATFORM = regex(
    r"(?P<many>manylinux_(?P<glibc>2_\d+)|manylinux(?:1|2010|2014)|linux)_(?P<linux>x86_64|aarch64)"
    r"|win_(?P<windows>amd64|arm64)|macosx_\d+_\d+_(?P<macos>x86_64|arm64)",
    re.ASCII,
)


@record
class Listed:
    """The files of one package, version, variant and platform.

    `pythons` and `freethreaded` are CPython minors, ascending, ("3.12",); none = py3-none wheels. `glibc` is the lowest
    that a tag names ("" where none does); `local_tag` whether the files carry +variant; `url` is that of one file, and
    `metadata` says whether its METADATA is offered beside it.
    """

    package: str
    version: Version
    variant: str
    platform: str
    pythons: tuple[str, ...]
    freethreaded: tuple[str, ...]
    glibc: str
    local_tag: bool
    url: str
    metadata: bool

    @property
    def key(self) -> tuple[str, Version, str, str]:
        return self.package, self.version, self.variant, self.platform


def listed(links: Iterable[Link], page_variant: str = "") -> tuple[Listed, ...]:
    """The entries of a page's links, without files that are no wheels of the family or lie in no variant's folder."""
    found: dict[tuple[str, Version, str, str], Listed] = {}
    for link in links:
        for entry in _entry(link, page_variant):
            known = found.get(entry.key)
            found[entry.key] = entry if known is None else _joined(known, entry)
    return tuple(found.values())


def _entry(link: Link, page_variant: str) -> Iterator[Listed]:
    try:
        package, version, _, tags = parse_wheel_filename(link.filename)
    except (InvalidWheelFilename, ValueError):
        return
    variant = _variant(link.url, package, page_variant)
    if package not in FAMILY or version.is_prerelease or variant is None or version.local not in (None, variant):
        return
    pythons = sorted({p for tag in tags if (p := _minor(tag.interpreter))}, key=_number)
    free = any(tag.abi.endswith("t") for tag in tags)
    platforms = [match for tag in tags if (match := _PLATFORM.fullmatch(tag.platform))]
    for name in dict.fromkeys(map(_platform, platforms)):
        yield Listed(
            package=package,
            version=Version(version.public),
            variant=variant,
            platform=name,
            pythons=() if free else tuple(pythons),
            freethreaded=tuple(pythons) if free else (),
            glibc=min((g for match in platforms if (g := _glibc(match))), key=_number, default=""),
            local_tag=version.local is not None,
            url=link.url,
            metadata=link.metadata is not None,
        )


def _variant(url: str, package: str, page_variant: str) -> str | None:
    """The variant's folder that a file lies in: <base>/cu128/FILE, or <base>/cu128/torch/FILE on some mirrors."""
    folders = url.split("?")[0].split("/")[:-1]
    folder = folders[-2] if folders[-1] == package and len(folders) > 1 else folders[-1]
    if VARIANT.fullmatch(folder):
        return folder
    # Mirrors that keep files by hash: the page says it. Files of the root are on every page and are old.
    return page_variant if page_variant and folder != "whl" else None


def _joined(one: Listed, other: Listed) -> Listed:
    return Listed(
        package=one.package,
        version=one.version,
        variant=one.variant,
        platform=one.platform,
        pythons=_both(one.pythons, other.pythons),
        freethreaded=_both(one.freethreaded, other.freethreaded),
        glibc=min((g for g in (one.glibc, other.glibc) if g), key=_number, default=""),
        local_tag=one.local_tag or other.local_tag,
        url=one.url,
        metadata=one.metadata,
    )


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}, key=_number))


def _minor(interpreter: str) -> str | None:
    match = _PYTHON.fullmatch(interpreter)
    return f"3.{match[1]}" if match else None


def _number(dotted: str) -> tuple[int, ...]:
    return tuple(map(int, dotted.split(".")))


def _platform(match: re.Match[str]) -> str:
    if match["linux"]:
        return f"linux_{match['linux']}"
    return f"windows_{match['windows']}" if match["windows"] else f"macos_{match['macos']}"


def _glibc(match: re.Match[str]) -> str:
    if match["glibc"]:
        return match["glibc"].replace("_", ".")
    return _GLIBC.get(match["many"] or "", "")
