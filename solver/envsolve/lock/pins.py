"""Pins: the packages of one or several locks as one file lists them, with a marker where only some targets take one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.lock.markers import Place, any_of, holds, tell_apart
from envsolve.record import record, replace
from envsolve.resolve.via import ASKED


@record
class Pin:
    """A package, and the marker of the targets that take it ("" = all of them)."""

    package: LockedPackage
    marker: str = ""


def place_of(lock: Lock) -> Place:
    """What markers know of a lock's target."""
    return lock.platform, lock.python


def pins_of(locks: Sequence[Lock]) -> tuple[Pin, ...]:
    """The pins of all locks by name; the same version in several of them is one pin with the files of all.

    Raises InputError where markers can't tell the targets apart.
    """
    if len(locks) == 1:
        return tuple(Pin(package=package) for package in locks[0].packages)
    markers = tell_apart([place_of(lock) for lock in locks])
    grouped: dict[tuple[str, ...], list[tuple[int, LockedPackage]]] = {}
    for number, lock in enumerate(locks):
        for package in lock.packages:
            grouped.setdefault(_identity(package), []).append((number, package))
    ordered = sorted(grouped.values(), key=lambda group: (group[0][1].name, group[0][0]))
    return tuple(_pin(group, markers) for group in ordered)


def packages_at(pins: Iterable[Pin], place: Place) -> tuple[LockedPackage, ...]:
    """The packages that a target takes. Raises packaging's InvalidMarker."""
    return tuple(pin.package for pin in pins if not pin.marker or holds(pin.marker, place))


def _identity(package: LockedPackage) -> tuple[str, ...]:
    """Packages with the same one are one pin: a package that its address names is bound to that address."""
    address = package.files[0].url if package.direct else ""
    return package.name, str(package.version), address


def _pin(group: Sequence[tuple[int, LockedPackage]], markers: Sequence[str]) -> Pin:
    packages = [package for _, package in group]
    merged = replace(
        packages[0],
        files=tuple(_merged_files(packages)),
        via=tuple(_merged_via(packages)),
        requires=tuple(sorted({name for package in packages for name in package.requires})),
    )
    everywhere = len(group) == len(markers)
    return Pin(package=merged, marker="" if everywhere else any_of([markers[number] for number, _ in group]))


def _merged_files(packages: Iterable[LockedPackage]) -> list[LockedFile]:
    files = {(file.filename, file.url, file.sha256): file for package in packages for file in package.files}
    return [files[key] for key in sorted(files)]


def _merged_via(packages: Iterable[LockedPackage]) -> Iterator[str]:
    names = {name for package in packages for name in package.via}
    yield from ((ASKED,) if ASKED in names else ())
    yield from sorted(names - {ASKED})
