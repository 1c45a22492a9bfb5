"""TargetEnv: markers and wheel tags of the machine that the environment is for, never of the running interpreter."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Machine
from envsolve.record import field, record
from envsolve.regex import regex

# A target that is named by minor only stands for every patch of it: the first and a last that no release reaches.
_FIRST_PATCH, _LAST_PATCH = "0", "99"
# Where nothing is known of the target's glibc and its torch build asks for none.
_COMMON_GLIBC = Dotted.parse("2.28")
# Nothing in a Machine says which macOS it is; current releases of the scientific packages need 14 at most.
_ASSUMED_MACOS = (14, 0)
_MUSL_NEWEST_MINOR = 2
_LEGACY_MANYLINUX = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_OLDEST_GLIBC_MINOR = {"x86_64": 5}  # the other architectures begin with manylinux2014
_PYTHON = regex(r"(?P<minor>3\.\d+)(?P<patch>\.\d+)?(?P<threads>t?)", re.ASCII)


@record
class TargetEnv:
    """What decides which files and which conditional requirements a target takes.

    `python` is major.minor, with a t where it is free-threaded; `environments` holds the marker variables, twice where
    the patch version is not known (its first and its last patch); `platforms` the platform tags that fit, best first;
    `sdists`: a source archive stands in for a version that has no wheel.
    """

    python: str
    environments: tuple[Mapping[str, str], ...]
    platforms: tuple[str, ...]
    sdists: bool = False
    # Thousands of files share some dozens of tag sets, and hundreds of requirements a few markers.
    _best: dict[frozenset[Tag], int | None] = field(default_factory=dict, compare=False, repr=False)
    # By identity, for its hash takes longer than the rest: files share them, and kept here none makes room for another.
    _pythons: dict[int, tuple[SpecifierSet, bool]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def rank(self) -> Mapping[Tag, int]:
        """Orders the tags that fit, best is 0."""
        return _ranked(self.python, self.platforms)

    @property
    def key(self) -> str:
        """Names all of this in a few characters: two targets with the same key take the same files."""
        parts = (self.python, [sorted(some.items()) for some in self.environments], self.platforms)
        text = repr((*parts, "sdists") if self.sdists else parts)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def holds(self, marker: Marker | None, extra: str = "") -> bool:
        """Whether a requirement with this marker is needed: for any patch version that the target may have."""
        if marker is None:
            return True
        return any(marker.evaluate({**environment, "extra": extra}) for environment in self.environments)

    def allows_python(self, requires_python: SpecifierSet | None) -> bool:
        """Whether Requires-Python takes the target; a patch version that is not known is taken as the newest."""
        if requires_python is None:
            return True
        known = self._pythons.get(id(requires_python))
        if known is None:
            newest = self.environments[-1]["python_full_version"]
            known = requires_python, requires_python.contains(newest, prereleases=True)
            self._pythons[id(requires_python)] = known
        return known[1]

    def best_rank(self, tags: frozenset[Tag]) -> int | None:
        """The rank of the best of a wheel's tags; None where it does not install on the target."""
        if tags not in self._best:
            rank = self.rank
            self._best[tags] = min((rank[tag] for tag in tags if tag in rank), default=None)
        return self._best[tags]


def target_env(machine: Machine, python: str, glibc_min: Dotted | None = None, *, sdists: bool = False) -> TargetEnv:
    """The TargetEnv of `machine` for Python `python` ("3.11", "3.11.7", "3.13t").

    Where the machine's glibc is not known, `glibc_min` (that of the planned torch build) is assumed. Raises InputError
    for anything else.
    """
    match = _PYTHON.fullmatch(python)
    if not match:
        raise InputError(f"not a Python version: {python!r}", hint="--python 3.12")
    minor, patch = match["minor"], match["patch"]
    fulls = (minor + patch,) if patch else (f"{minor}.{_FIRST_PATCH}", f"{minor}.{_LAST_PATCH}")
    return TargetEnv(
        python=minor + match["threads"],
        environments=tuple(_markers(machine, minor, full) for full in fulls),
        platforms=tuple(_platforms(machine, glibc_min)),
        sdists=sdists,
    )


@lru_cache(maxsize=16)
def _ranked(python: str, platforms: tuple[str, ...]) -> Mapping[Tag, int]:
    version = tuple(int(part) for part in python.rstrip("t").split("."))
    interpreter = f"cp{version[0]}{version[1]}"
    abi = interpreter + ("t" if python.endswith("t") else "") + ("m" if version < (3, 8) else "")
    rank: dict[Tag, int] = {}
    for tag in cpython_tags(version, [abi], platforms):
        rank.setdefault(tag, len(rank))
    for tag in compatible_tags(version, interpreter, platforms):
        rank.setdefault(tag, len(rank))
    return rank


def _markers(machine: Machine, python: str, full: str) -> Mapping[str, str]:
    windows = machine.os == "windows"
    machine_names = {"x86_64": "AMD64", "aarch64": "ARM64", "arm64": "ARM64"} if windows else {}
    return {
        "implementation_name": "cpython",
        "implementation_version": full,
        "os_name": "nt" if windows else "posix",
        "platform_machine": machine_names.get(machine.arch, machine.arch),
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": {"linux": "Linux", "windows": "Windows", "macos": "Darwin"}[machine.os],
        "platform_version": "",
        "python_full_version": full,
        "python_version": python,
        "sys_platform": {"linux": "linux", "windows": "win32", "macos": "darwin"}[machine.os],
    }


def _platforms(machine: Machine, glibc_min: Dotted | None) -> Iterator[str]:
    if machine.os == "windows":
        yield "win_amd64" if machine.arch == "x86_64" else "win_arm64"
    elif machine.os == "macos":
        yield from mac_platforms(_ASSUMED_MACOS, machine.arch)
    elif machine.libc is not None and machine.libc.name == "musl":
        yield from _musl_platforms(_linux_arch(machine), machine.libc.version)
    else:
        known = machine.libc.version if machine.libc else None
        yield from _glibc_platforms(_linux_arch(machine), known or glibc_min or _COMMON_GLIBC)


def _linux_arch(machine: Machine) -> str:
    return "aarch64" if machine.arch == "arm64" else machine.arch


def _glibc_platforms(arch: str, glibc: Dotted) -> Iterator[str]:
    newest = glibc.parts[1] if len(glibc.parts) > 1 else 0
    for minor in range(newest, _OLDEST_GLIBC_MINOR.get(arch, 17) - 1, -1):
        yield f"manylinux_2_{minor}_{arch}"
        if minor in _LEGACY_MANYLINUX:
            yield f"{_LEGACY_MANYLINUX[minor]}_{arch}"
    yield f"linux_{arch}"


def _musl_platforms(arch: str, musl: Dotted | None) -> Iterator[str]:
    newest = musl.parts[1] if musl and len(musl.parts) > 1 else _MUSL_NEWEST_MINOR
    for minor in range(newest, -1, -1):
        yield f"musllinux_1_{minor}_{arch}"
    yield f"linux_{arch}"
