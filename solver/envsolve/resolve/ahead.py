"""Ahead: what a page or METADATA that has come is likely to lead to, while the resolver still waits for another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.resolve.target_env import TargetEnv

# A guess is as good as its bounds, and a package that all need is bounded often.
_MOST_BOUNDS = 4


class Ahead:
    """Guesses for an index's threads; a wrong one costs a request and no more.

    `elsewhere` are packages that the default index is not asked for; of `prefer`, versions by name, each comes first.
    """

    def __init__(
        self,
        env: TargetEnv,
        elsewhere: Collection[str],
        constraints: Sequence[Requirement] = (),
        prefer: Mapping[str, Version] | None = None,
    ) -> None:
        self._env = env
        self._elsewhere = frozenset(elsewhere)
        self._prefer = prefer or {}
        self._extras: dict[str, set[str]] = {}
        self._bounds: dict[str, set[str]] = {}
        for constraint in constraints:
            self.expect(canonicalize_name(constraint.name), str(constraint.specifier))

    def expect(self, name: str, specifier: str, extras: Collection[str] = ()) -> None:
        """Take note of what is asked of a package."""
        if extras:
            self._extras.setdefault(name, set()).update(extras)
        bounds = self._bounds.setdefault(name, set())
        if specifier and len(bounds) < _MOST_BOUNDS:
            bounds.add(specifier)

    def file(self, name: str, files: Sequence[ReleaseFile]) -> ReleaseFile | None:
        """The wheel that is likely to be looked into: of the newest final version that fits what is known so far."""
        bounds, preferred = self._bound(name), self._prefer.get(name)
        kept = [file for file in files if file.version == preferred] if preferred is not None else []
        return self._newest(kept, bounds) or self._newest(files, bounds)

    def _newest(self, files: Sequence[ReleaseFile], bounds: SpecifierSet) -> ReleaseFile | None:
        best: ReleaseFile | None = None
        best_rank = 0
        for file in reversed(files):  # a page lists the newest last: of nearly all others only the version is looked at
            if best is not None and file.version < best.version:
                continue
            rank = self._rank(file)
            if rank is None or not bounds.contains(file.version, prereleases=True):
                continue
            if best is None or file.version > best.version or rank < best_rank:
                best, best_rank = file, rank
        return best

    def _rank(self, file: ReleaseFile) -> int | None:
        """The rank of a wheel's tags; None where it isn't taken unless it is asked for."""
        if file.yanked is not None or file.version.is_prerelease or not self._env.allows_python(file.requires_python):
            return None
        return self._env.best_rank(file.tags)

    def _bound(self, name: str) -> SpecifierSet:
        try:
            return SpecifierSet(",".join(tuple(self._bounds.get(name, ()))))
        except InvalidSpecifier:
            return SpecifierSet()

    def names(self, metadata: WheelMetadata) -> list[str]:
        """The packages that a wheel leads to on the target, with the extras of it that were asked for so far."""
        found: list[str] = []
        extras = ["", *self._extras.get(metadata.name, ())]
        for requirement in metadata.requires:
            name = canonicalize_name(requirement.name)
            if requirement.url or name in self._elsewhere:
                continue
            if any(self._env.holds(requirement.marker, extra) for extra in extras):
                self.expect(name, str(requirement.specifier), [canonicalize_name(e) for e in requirement.extras])
                found.append(name)
        return found
