"""Markers and tags of the target, whatever interpreter runs the test."""

from __future__ import annotations

import platform
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker, default_environment
from packaging.specifiers import SpecifierSet
from packaging.tags import parse_tag, sys_tags

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Libc, Machine
from envsolve.resolve.target_env import TargetEnv, target_env


def linux(glibc: str | None = "2.35", arch: str = "x86_64") -> Machine:
    libc = Libc(name="glibc", version=Dotted.parse(glibc)) if glibc else None
    return Machine(os="linux", arch=arch, libc=libc)  # type: ignore[arg-type]


def fits(env: TargetEnv, tag: str) -> bool:
    return env.best_rank(parse_tag(tag)) is not None


@pytest.mark.parametrize(
    ("machine", "python", "good", "bad"),
    [
        (linux(), "3.12", "cp312-cp312-manylinux_2_28_x86_64", "cp313-cp313-manylinux_2_28_x86_64"),
        (linux(), "3.12", "cp39-abi3-manylinux2014_x86_64", "cp313-abi3-manylinux2014_x86_64"),
        (linux(), "3.12", "py3-none-any", "py2-none-any"),
        (linux(), "3.12", "py2.py3-none-any", "cp312-cp312t-manylinux_2_28_x86_64"),
        (linux(), "3.12", "py3-none-manylinux1_x86_64", "py3-none-manylinux_2_36_x86_64"),
        (linux(), "3.12", "cp312-cp312-linux_x86_64", "cp312-cp312-musllinux_1_2_x86_64"),
        (linux(arch="aarch64"), "3.12", "cp312-cp312-manylinux_2_17_aarch64", "cp312-cp312-manylinux1_aarch64"),
        (linux(), "3.6", "cp36-cp36m-manylinux1_x86_64", "cp36-cp36-manylinux1_x86_64"),
        (linux(), "3.7", "cp37-cp37m-linux_x86_64", "cp38-cp38-linux_x86_64"),
        (linux(), "3.13t", "cp313-cp313t-manylinux_2_28_x86_64", "cp313-cp313-manylinux_2_28_x86_64"),
        (linux(), "3.13t", "py3-none-any", "cp39-abi3-manylinux2014_x86_64"),
        (linux(None), "3.12", "py3-none-manylinux_2_28_x86_64", "py3-none-manylinux_2_29_x86_64"),
        (Machine(os="windows", arch="x86_64"), "3.12", "cp312-cp312-win_amd64", "cp312-cp312-win32"),
        (Machine(os="windows", arch="aarch64"), "3.12", "cp312-cp312-win_arm64", "cp312-cp312-win_amd64"),
        (Machine(os="macos", arch="arm64"), "3.12", "cp312-none-macosx_11_0_arm64", "cp312-none-macosx_11_0_x86_64"),
        (Machine(os="macos", arch="x86_64"), "3.9", "cp39-cp39-macosx_10_9_x86_64", "cp39-cp39-macosx_11_0_arm64"),
        (
            Machine(os="linux", arch="x86_64", libc=Libc(name="musl", version=Dotted.parse("1.2.4"))),
            "3.12",
            "cp312-cp312-musllinux_1_2_x86_64",
            "cp312-cp312-manylinux_2_17_x86_64",
        ),
    ],
)
def test_tags(machine: Machine, python: str, good: str, bad: str) -> None:
    env = target_env(machine, python)
    assert fits(env, good)
    assert not fits(env, bad)


def test_where_glibc_is_not_known_that_of_the_planned_build_counts() -> None:
    env = target_env(linux(None), "3.12", Dotted.parse("2.17"))
    assert fits(env, "py3-none-manylinux_2_17_x86_64")
    assert not fits(env, "py3-none-manylinux_2_28_x86_64")
    known = target_env(linux("2.31"), "3.12", Dotted.parse("2.17"))
    assert fits(known, "py3-none-manylinux_2_31_x86_64")


def test_the_best_tag_is_the_most_specific() -> None:
    env = target_env(linux(), "3.12")
    order = ["cp312-cp312-manylinux_2_28_x86_64", "cp312-cp312-manylinux1_x86_64", "cp39-abi3-manylinux_2_28_x86_64"]
    ranks = [env.best_rank(parse_tag(tag)) for tag in [*order, "py3-none-manylinux_2_28_x86_64", "py3-none-any"]]
    assert ranks == sorted(ranks)
    assert env.best_rank(parse_tag("cp39.cp312-cp312.abi3-manylinux_2_28_x86_64")) == ranks[0]


@pytest.mark.skipif(
    platform.python_implementation() != "CPython" or platform.libc_ver()[0] != "glibc", reason="glibc and CPython only"
)
def test_of_this_machine_it_says_what_packaging_says() -> None:
    arch = {"x86_64": "x86_64", "aarch64": "aarch64"}[platform.machine()]
    python = ".".join(map(str, sys.version_info[:3]))
    env = target_env(linux(platform.libc_ver()[1], arch), python)
    plain = f"linux_{arch}"  # packaging has changed its mind about where this comes among the manylinux tags
    assert set(env.rank) == set(sys_tags())
    assert [t for t in env.rank if t.platform != plain] == [t for t in sys_tags() if t.platform != plain]
    here = {**default_environment(), "platform_release": "", "platform_version": ""}
    assert env.environments == (here,)


def test_a_marker_that_some_patch_version_meets_holds() -> None:
    env = target_env(linux(), "3.11")
    assert env.holds(Marker('python_full_version < "3.11.3"'))
    assert env.holds(Marker('python_full_version >= "3.11.3"'))
    assert not env.holds(Marker('python_full_version < "3.11"'))
    known = target_env(linux(), "3.11.7")
    assert not known.holds(Marker('python_full_version < "3.11.3"'))


def test_requires_python_takes_the_newest_patch_where_none_is_known() -> None:
    env = target_env(linux(), "3.9")
    assert env.allows_python(SpecifierSet(">=3.9.1"))
    assert env.allows_python(SpecifierSet(">=3.8, !=3.9.7"))
    assert env.allows_python(None)
    assert not env.allows_python(SpecifierSet(">=3.10"))
    assert not target_env(linux(), "3.9.0").allows_python(SpecifierSet(">=3.9.1"))


def test_extras_in_markers() -> None:
    env = target_env(linux(), "3.12")
    assert env.holds(Marker('extra == "gpu"'), "gpu")
    assert not env.holds(Marker('extra == "gpu"'))


@pytest.mark.parametrize("python", ["", "3", "2.7", "3.x", "python3.11", "3.11.7.1"])
def test_what_is_no_python_version(python: str) -> None:
    with pytest.raises(InputError, match="not a Python version"):
        target_env(linux(), python)


@given(st.integers(6, 15), st.integers(17, 45))
def test_every_python_and_glibc_takes_pure_wheels_and_its_own(minor: int, glibc: int) -> None:
    env = target_env(linux(f"2.{glibc}"), f"3.{minor}")
    abi = f"cp3{minor}{'m' if minor < 8 else ''}"
    assert fits(env, "py3-none-any")
    assert fits(env, f"cp3{minor}-{abi}-manylinux_2_{glibc}_x86_64")
    assert not fits(env, f"cp3{minor}-{abi}-manylinux_2_{glibc + 1}_x86_64")
