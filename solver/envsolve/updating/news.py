"""News: what an index has that the rules lack."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from envsolve.dotted import Dotted
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.updating.listed import Listed


@record
class NewPython:
    """Pythons that files of a build exist for beyond what the rules say of it."""

    listed: Listed
    pythons: tuple[str, ...]
    freethreaded: tuple[str, ...]


@record
class News:
    """`builds` of torch and files of `companions` that no rule names; `pythons` new for builds that are known."""

    releases: tuple[Version, ...]
    builds: tuple[Listed, ...]
    companions: tuple[Listed, ...]
    pythons: tuple[NewPython, ...]

    def __bool__(self) -> bool:
        return bool(self.builds or self.companions or self.pythons)


def news(entries: Iterable[Listed], rulebook: Rulebook) -> News:
    """Compare an index's listing with the rules. What is older than the rules' first torch is no news."""
    known, builds, companions, pythons = set(rulebook.torch_versions), [], [], []
    oldest = rulebook.torch_versions[0]
    for entry in sorted(entries, key=lambda e: e.key):
        if entry.package != "torch":
            if _is_new_companion(entry, rulebook):
                companions.append(entry)
        elif entry.version >= oldest:
            if rulebook.build(entry.version, entry.variant, entry.platform) is None:
                builds.append(entry)
            elif new := _new_python(entry, rulebook):
                pythons.append(new)
    releases = sorted({entry.version for entry in builds} - known)
    return News(releases=tuple(releases), builds=tuple(builds), companions=tuple(companions), pythons=tuple(pythons))


def _is_new_companion(entry: Listed, rulebook: Rulebook) -> bool:
    versions = rulebook.companion_versions(entry.package)
    if entry.version < versions[0]:
        return False
    return rulebook.companion_builds(entry.package, entry.version, entry.variant, entry.platform) is None


def _new_python(entry: Listed, rulebook: Rulebook) -> NewPython | None:
    build = rulebook.build(entry.version, entry.variant, entry.platform)
    assert build is not None  # the caller looked
    first, last = build.python
    pythons = tuple(p for p in entry.pythons if not first <= Dotted.parse(p) <= last)
    free = tuple(p for p in entry.freethreaded if Dotted.parse(p) not in build.freethreaded)
    return NewPython(listed=entry, pythons=pythons, freethreaded=free) if pythons or free else None
