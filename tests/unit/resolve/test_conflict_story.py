"""Conflicts as they are told: the way from what was asked for to the clash, and a change that was tried."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from envsolve.errors import RefusedError
from envsolve.resolve.closure import close
from fakes.memory_index import MemoryIndex
from fakes.plans import LINUX_312, a_plan
from fakes.stub_wheels import StubWheel, stub_family


def an_index(**packages: tuple[str, ...]) -> MemoryIndex:
    """torch 2.11.0, and name_version = requirements."""
    index = MemoryIndex()
    index.add("cu128", *stub_family("cu128", tag=LINUX_312, torch="2.11.0"))
    for key, requires in packages.items():
        name, _, version = key.partition("_")
        index.add_default(StubWheel(name=name, version=version.replace("_", "."), requires=requires))
    return index


def told(index: MemoryIndex, *requirements: str, constraints: tuple[str, ...] = ()) -> tuple[list[str], str]:
    with pytest.raises(RefusedError) as caught:
        close(a_plan("torch", *requirements, constraints=constraints), index)
    return caught.value.message.splitlines()[1:], caught.value.hint


def test_the_way_from_a_requirement_to_the_clash_is_told() -> None:
    index = an_index(app_1=("mid",), mid_1=("low",), low_1=("dep<2",), dep_1=(), dep_2=(), other_1=())
    assert told(index, "other", "app", "dep>=2") == (
        [
            "  you ask for app",
            "  you ask for dep>=2",
            "  app 1 needs mid",
            "  mid 1 needs low",
            "  low 1 needs dep<2",
            "  dep for this target: 2, 1",
        ],
        "write dep in place of dep>=2",
    )


def test_a_constraint_in_the_way_is_named_and_leaving_it_out_is_tried() -> None:
    index = an_index(app_1=("dep<2",), dep_1=(), dep_2=())
    lines, hint = told(index, "app", constraints=("app<2", "dep>=2"))
    assert lines == [
        "  you ask for app",
        "  app 1 needs dep<2",
        "  a constraint says dep>=2",
        "  dep for this target: 2, 1",
    ]
    assert hint == "leave out the constraint dep>=2"


def test_versions_that_need_the_same_share_a_line() -> None:
    index = an_index(**{f"app_{n}": ("dep<2",) for n in range(1, 12)}, dep_1=(), dep_2=())
    lines, _ = told(index, "app", "dep>=2")
    assert lines[2:] == ["  app 11, 10, 9 and 8 others need dep<2", "  dep for this target: 2, 1"]


def test_a_pre_release_that_a_requirement_allows_and_does_not_name() -> None:
    index = an_index(app_1=(), app_2rc1=())
    lines, hint = told(index, "app>1.5")
    assert lines == ["  you ask for app>1.5", "  app for this target: 2rc1, 1"]
    assert hint == "write app==2rc1 in place of app>1.5"
    assert {p.name for p in close(a_plan("torch", "app==2rc1"), index).packages} == {"app", "torch"}


def test_two_addresses_of_one_package_are_both_told() -> None:
    index = an_index()
    for host in ("one", "two"):
        index.base = f"https://{host}.example"
        index.add_default(StubWheel(name="app", version="1.0"))
    first, second = (f"app @ https://{host}.example/app-1.0-py3-none-any.whl" for host in ("one", "two"))
    lines, _ = told(index, first, second)
    assert lines == [f"  you ask for {first}", f"  you ask for {second}", "  the address that you name holds app 1.0"]


def test_every_hint_that_is_given_helps() -> None:
    index = an_index(app_2=("dep>=2",), app_1=("dep<2",), low_1=("dep==1",), dep_1=(), dep_2=())
    _, hint = told(index, "app==2", "low")
    written, _, asked = hint.removeprefix("write ").partition(" in place of ")
    assert (written, asked) == ("app", "app==2") and Requirement(written)
    close(a_plan("torch", written, "low"), index)
