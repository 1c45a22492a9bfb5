"""Needed: which versions of the dependencies some target can need, told from the requirements that are held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.dotted import Dotted
from envsolve.index.release import ReleaseFile
from envsolve.machine.machine import Libc, Machine
from envsolve.resolve.target_env import TargetEnv, target_env
from snapshot.default_index import PYTHONS, DefaultIndex, system_of
from snapshot.metadata_text import Requires

_MACHINES = (
    Machine(os="linux", arch="x86_64", libc=Libc(name="glibc", version=Dotted.parse("2.17"))),
    Machine(os="linux", arch="x86_64", libc=Libc(name="glibc", version=Dotted.parse("2.28"))),
    Machine(os="linux", arch="x86_64", libc=Libc(name="glibc", version=Dotted.parse("2.39"))),
    Machine(os="linux", arch="aarch64", libc=Libc(name="glibc", version=Dotted.parse("2.28"))),
    Machine(os="linux", arch="aarch64", libc=Libc(name="glibc", version=Dotted.parse("2.39"))),
    Machine(os="windows", arch="x86_64"),
    Machine(os="macos", arch="arm64"),
)
# People ask for these in older versions: the newest of each minor, or of each of the last majors, is kept as well.
_BY_MINOR = ("numpy", "pillow")
_MAJORS = 6
_NEVER = ("torch", "torchvision", "torchaudio")

Key = tuple[str, str, frozenset[str], int]


@dataclass(frozen=True, slots=True)
class _Want:
    name: str
    specifier: str
    extras: frozenset[str]
    env: int


class Needed:
    """Follows requirements for every target and collects the versions that are the newest for some of them."""

    def __init__(self, index: DefaultIndex) -> None:
        self._index = index
        self._envs: list[TargetEnv] = [target_env(m, p) for m in _MACHINES for p in (*PYTHONS, "3.13t", "3.14t")]
        self._done: set[_Want] = set()
        self._followed: set[tuple[str, str, frozenset[str], int]] = set()
        self.versions: dict[str, set[Version]] = {}

    def follow(self, all_requires: Iterable[Requires]) -> None:
        """Add what these METADATA need, and what that needs in turn."""
        distinct = dict.fromkeys(all_requires)
        wants = {
            w for requires in distinct for e in range(len(self._envs)) for w in self._wants(requires, frozenset(), e)
        }
        while wants:
            wants = {w for want in wants - self._done for w in self._settle(want)} - self._done
        for name in list(self.versions):
            self._add_usual(name)

    def _wants(self, requires: Requires, extras: frozenset[str], env: int) -> Iterator[_Want]:
        target = self._envs[env]
        for requirement in _parsed(requires):
            name = canonicalize_name(requirement.name)
            holds = any(target.holds(requirement.marker, extra) for extra in (extras or {""}))
            if holds and name not in _NEVER:
                extra_names = frozenset(canonicalize_name(extra) for extra in requirement.extras)
                yield _Want(name, str(requirement.specifier), extra_names, env)

    def _settle(self, want: _Want) -> Iterator[_Want]:
        self._done.add(want)
        file = self._newest(want)
        if file is None:
            return
        self.versions.setdefault(want.name, set()).add(file.version)
        key = (want.name, str(file.version), want.extras, want.env)
        if key in self._followed:
            return
        self._followed.add(key)
        yield from self._wants(self._index.requires(self._one_of(file)), want.extras, want.env)

    def _newest(self, want: _Want) -> ReleaseFile | None:
        specifier, env = SpecifierSet(want.specifier), self._envs[want.env]
        fitting = [
            file
            for file in self._index.files(want.name)
            if not file.version.is_prerelease
            and file.is_wheel
            and env.allows_python(file.requires_python)
            and env.best_rank(file.tags) is not None
            and specifier.contains(file.version)
        ]
        return max(fitting, key=lambda file: file.version, default=None)

    def _one_of(self, file: ReleaseFile) -> ReleaseFile:
        """The wheel whose METADATA stands for this version on this operating system."""
        same = (f for f in self._index.files(file.name) if f.version == file.version)
        return next(f for f in same if system_of(f.filename) == system_of(file.filename))

    def _add_usual(self, name: str) -> None:
        """The newest release of each minor of NumPy and Pillow, and of each of the last majors of the others."""
        if name.startswith(("nvidia-", "cuda-", "triton")):
            return
        parts = 2 if name in _BY_MINOR else 1
        newest: dict[tuple[int, ...], Version] = {}
        for version in sorted({f.version for f in self._index.files(name) if not f.version.is_prerelease}):
            newest[version.release[:parts]] = version
        kept = [v for v in newest.values() if v >= min(self.versions[name])]
        self.versions[name].update(kept if name in _BY_MINOR else kept[-_MAJORS:])


_PARSED: dict[Requires, list[Requirement]] = {}


def _parsed(requires: Requires) -> list[Requirement]:
    if requires not in _PARSED:
        _PARSED[requires] = [Requirement(line) for line in requires.requires]
    return _PARSED[requires]
