"""Markers: how one file tells its targets apart, by system and machine, and by Python where need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envsolve.errors import InputError

_SYSTEMS: Mapping[str, tuple[str, str]] = {  # sys_platform, platform_machine
    "linux_x86_64": ("linux", "x86_64"),
    "linux_aarch64": ("linux", "aarch64"),
    "windows_amd64": ("win32", "AMD64"),
    "windows_arm64": ("win32", "ARM64"),
    "macos_arm64": ("darwin", "arm64"),
    "macos_x86_64": ("darwin", "x86_64"),
}
Place = tuple[str, str]  # platform ("linux_x86_64") and Python ("3.12", "3.13t")


def platform_marker(platform: str) -> str:
    """The marker of a platform of the rules."""
    system, machine = _SYSTEMS[platform]
    return f"sys_platform == '{system}' and platform_machine == '{machine}'"


def tell_apart(places: Sequence[Place]) -> tuple[str, ...]:
    """A marker for each place that holds there and at no other. Raises InputError where markers can't say it."""
    platforms = [platform for platform, _ in places]
    if len(set(platforms)) == len(places):
        return tuple(map(platform_marker, platforms))
    versions = [(platform, python.rstrip("t")) for platform, python in places]
    if len(set(versions)) < len(places):
        twice = next(place for place in versions if versions.count(place) > 1)
        raise InputError(
            f"no marker tells these targets apart: more than one is {twice[0]} with Python {twice[1]}",
            hint="-o lockfiles/ writes one file for each target",
        )
    return tuple(f"{platform_marker(p)} and python_version == '{python}'" for p, python in versions)


def any_of(markers: Sequence[str]) -> str:
    """A marker that holds where one of these does."""
    return markers[0] if len(markers) == 1 else " or ".join(f"({marker})" for marker in markers)


def holds(marker: str, place: Place) -> bool:
    """Whether a marker holds at a place. Raises packaging's InvalidMarker, a ValueError."""
    from packaging.markers import Marker  # not for a lock of one target

    system, machine = _SYSTEMS[place[0]]
    python = place[1].rstrip("t")
    environment = {"sys_platform": system, "platform_machine": machine, "python_version": python}
    return Marker(marker).evaluate(environment)
