"""Fitting: which links may be files for a target, told from the name alone, before versions and tags are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsolve.record import record
from envsolve.regex import regex

_ARCH = {
    "linux_x86_64": ("linux", ("_x86_64",)),
    "linux_aarch64": ("linux", ("_aarch64",)),
    "windows_amd64": ("win", ("_amd64",)),
    "windows_arm64": ("win", ("_arm64",)),
    "macos_x86_64": ("macosx", ("_x86_64", "_universal2", "_intel", "_universal", "_fat64", "_fat3", "_fat32")),
    "macos_arm64": ("macosx", ("_arm64", "_universal2")),
}
SDISTS = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")


@record
class WheelName:
    """The parts of a wheel's file name, as text."""

    name: str
    version: str
    build: str
    tag: str


def split_wheel_name(filename: str) -> WheelName | None:
    """The parts of a wheel's file name; None for what isn't one (no wheel, or a wheel variant's sixth part)."""
    parts = filename[:-4].split("-")
    if not filename.endswith(".whl") or len(parts) not in (5, 6):
        return None
    build = parts[2] if len(parts) == 6 else ""
    if build and not (build[0].isdigit() and build.replace("_", "").replace(".", "").isalnum()):
        return None
    return WheelName(name=parts[0], version=parts[1], build=build, tag="-".join(parts[-3:]))


def sdist_version(filename: str, name: str) -> str | None:
    """The version in a source archive's name, if it is one of the package `name` (canonical)."""
    stem = next((filename.removesuffix(end) for end in SDISTS if filename.endswith(end)), None)
    if stem is None:
        return None
    for place in (n for n, character in enumerate(stem) if character == "-"):
        if canonical(stem[:place]) == name and stem[place + 1 : place + 2].isdigit():
            return stem[place + 1 :]
    return None


@record
class Target:
    """What a file is for: Python "3.12", and a platform as the rules name it ("linux_x86_64").

    The C library is left to the resolver, which can name it in a conflict.
    """

    python: str
    platform: str

    @property
    def key(self) -> str:
        """A short text for cache keys."""
        return f"{self.python}-{self.platform}"

    def places(self, filenames: Sequence[str], *, any_python: bool = False) -> list[int]:
        """The places of the wheels that may fit, in the order of the page; those of other Pythons too: `any_python`."""
        # The tags of a wheel, as text: thousands of files share some dozens. A build number stays in front: rare.
        tags = [filename.split("-", 2)[-1] for filename in filenames]
        fits = self.fits_platform if any_python else self.fits
        fitting = {tag for tag in set(tags) if fits(f"-{tag}")}
        return [place for place, tag in enumerate(tags) if tag in fitting]

    def fits(self, filename: str) -> bool:
        """Whether the file is a wheel that may fit this Python and platform."""
        parts = filename[:-4].rsplit("-", 3)
        if not filename.endswith(".whl") or len(parts) != 4:
            return False
        _, python, abi, platform = parts
        return fits_platform(platform, self.platform) and fits_python(python, abi, self.python)

    def fits_platform(self, filename: str) -> bool:
        """Whether the file is a wheel for this platform, whatever its Python."""
        return filename.endswith(".whl") and fits_platform(filename[:-4].rsplit("-", 1)[-1], self.platform)


_FINAL = regex(r"(\d+!)?\d+(\.\d+)*(\.post\d+)?(\+.*)?$", re.ASCII)


def has_final(filenames: Iterable[str]) -> bool:
    """Whether one of these wheels is of a final release, told from its name."""
    return any(_FINAL.match(filename.split("-", 2)[1]) for filename in filenames)


@lru_cache(maxsize=4096)
def fits_platform(tag: str, platform: str) -> bool:
    """Whether a (maybe compressed) platform tag is for an operating system and architecture."""
    system, ends = _ARCH[platform]
    starts = ("manylinux", "linux", "musllinux") if system == "linux" else (system,)
    return any(part == "any" or (part.startswith(starts) and part.endswith(ends)) for part in tag.split("."))


@lru_cache(maxsize=4096)
def fits_python(python: str, abi: str, target: str) -> bool:
    """Whether (maybe compressed) Python and ABI tags may be for a CPython "3.N" or "3.N.P"; "" means any."""
    if not target:
        return True
    minor = int(target.split(".")[1].rstrip("t"))
    return any(_fits_one(part, abi, minor) for part in python.split("."))


def _fits_one(python: str, abi: str, minor: int) -> bool:
    if python in ("py3", f"cp3{minor}"):
        return True
    digits = python[3:]
    if not (python.startswith(("cp3", "py3")) and digits.isdecimal() and int(digits) <= minor):
        return False
    return python.startswith("py3") or "abi3" in abi.split(".")


@lru_cache(maxsize=65536)
def version(text: str) -> Version | None:
    """A version; None where it is none."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """The canonical form of a package's name."""
    return canonicalize_name(name)
