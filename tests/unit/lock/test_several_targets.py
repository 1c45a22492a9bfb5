"""Several locks in one file: each target reads back what it was given, and nobody else's packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.pylock import Pylock

from envsolve.errors import InputError
from envsolve.lock import formats, pylock_toml, requirements_txt
from envsolve.lock.lock import Lock, LockedPackage
from envsolve.lock.markers import any_of, holds, tell_apart
from envsolve.lock.pins import pins_of
from fakes.locks import SOME, locks

PLATFORMS = ("linux_x86_64", "windows_amd64", "macos_arm64", "linux_aarch64")


@st.composite
def sets(draw: st.DrawFn) -> tuple[Lock, ...]:
    """Two to four locks of one run, each for another platform, with some packages in common."""
    found = draw(st.lists(locks(), min_size=2, max_size=4))
    first = found[0]
    header = replace(first.header)
    return tuple(
        replace(lock, platform=platform, packages=_mixed(first, lock, draw(st.booleans())), header=_head(lock, header))
        for lock, platform in zip(found, PLATFORMS, strict=False)
    )


def _head(lock: Lock, header: object) -> object:
    return replace(lock.header, command=header.command)  # type: ignore[attr-defined]


def _mixed(first: Lock, lock: Lock, shared: bool) -> tuple[LockedPackage, ...]:
    if not shared:
        return lock.packages
    own = {package.name for package in lock.packages}
    more = [package for package in first.packages if package.name not in own]
    return tuple(sorted((*lock.packages, *more), key=lambda package: package.name))


def pins(lock: Lock) -> list[tuple[str, str, bool]]:
    return [(p.name, str(p.version), p.direct) for p in lock.packages]


@SOME
@given(sets())
@pytest.mark.parametrize("module", [requirements_txt, pylock_toml], ids=["txt", "pylock"])
def test_every_target_reads_back_its_own(module: object, some: tuple[Lock, ...]) -> None:
    write: Callable[..., str] = module.write  # type: ignore[attr-defined]
    read: Callable[..., tuple[Lock, ...]] = module.read_all  # type: ignore[attr-defined]
    text = write(*some)
    back = read(text)
    assert [(lock.platform, lock.python, lock.variant, lock.header) for lock in back] == [
        (lock.platform, lock.python, lock.variant, lock.header) for lock in some
    ]
    for lock, given_lock in zip(back, some, strict=True):
        assert pins(lock) == pins(given_lock)
        for package, original in zip(lock.packages, given_lock.packages, strict=True):
            assert {f.sha256 for f in original.files} <= {f.sha256 for f in package.files}
    assert write(*back) == text


@SOME
@given(sets())
def test_pylock_selects_each_target_once(some: tuple[Lock, ...]) -> None:
    import tomllib

    pylock = Pylock.from_dict(tomllib.loads(pylock_toml.write(*some)))
    for lock in some:
        marker = tell_apart([(lock.platform, lock.python) for lock in some])[some.index(lock)]
        chosen = [
            p.name for p in pylock.packages if p.marker is None or holds(str(p.marker), (lock.platform, lock.python))
        ]
        assert chosen == [package.name for package in lock.packages]
        assert str(Marker(marker)) in map(str, pylock.environments or ())


def test_markers_tell_platforms_and_pythons_apart() -> None:
    assert tell_apart([("linux_x86_64", "3.12")]) == ("sys_platform == 'linux' and platform_machine == 'x86_64'",)
    both = tell_apart([("linux_x86_64", "3.12"), ("linux_x86_64", "3.13")])
    assert both[1].endswith("and python_version == '3.13'")
    with pytest.raises(InputError, match=r"more than one is linux_x86_64 with Python 3\.12") as caught:
        tell_apart([("linux_x86_64", "3.12"), ("linux_x86_64", "3.12")])
    assert "lockfiles/" in caught.value.hint


@given(st.lists(st.sampled_from(PLATFORMS), min_size=1, max_size=4, unique=True))
def test_a_marker_holds_at_its_place_only(platforms: list[str]) -> None:
    places = [(platform, "3.12") for platform in platforms]
    markers = tell_apart(places)
    for number, marker in enumerate(markers):
        assert [holds(marker, place) for place in places] == [n == number for n in range(len(places))]
    assert all(holds(any_of(markers), place) for place in places)


@SOME
@given(locks())
def test_one_lock_has_no_markers(lock: Lock) -> None:
    assert [pin.marker for pin in pins_of([lock])] == [""] * len(lock.packages)


@SOME
@given(locks(), locks())
def test_the_same_place_twice_is_refused(one: Lock, other: Lock) -> None:
    other = replace(other, platform=one.platform, python=one.python)
    for module in (requirements_txt, pylock_toml):
        with pytest.raises(InputError, match="no marker tells these targets apart"):
            module.write(one, other)


@SOME
@given(locks(), locks())
def test_picking_the_lock_of_a_machine(one: Lock, other: Lock) -> None:
    text = requirements_txt.write(replace(one, platform="linux_x86_64"), replace(other, platform="windows_amd64"))
    found = formats.read(text, "a.txt", platform="windows_amd64")
    assert (found.platform, pins(found)) == ("windows_amd64", pins(other))
    with pytest.raises(InputError, match=r"a\.txt is not for macos_arm64: it holds linux_x86_64 with Python"):
        formats.read(text, "a.txt", platform="macos_arm64")
    with pytest.raises(InputError, match="holds locks for 2 targets"):
        requirements_txt.read(text)
