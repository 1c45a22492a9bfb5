"""A GPU that brings its processor along tells the machine's architecture, where nobody else does."""

from __future__ import annotations

import pytest

from envsolve.judge.superchip import with_own_arch
from envsolve.machine.machine import Gpu, Machine
from envsolve.rulebook.load import load


def machine(
    *names: str, arch: str = "x86_64", assumed: tuple[str, ...] = ("arch", "python"), os: str = "linux"
) -> Machine:
    gpus = tuple(Gpu(name=name) for name in names)
    return Machine(os=os, arch=arch, gpus=gpus, vendor="nvidia", assumed=assumed)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["GB10", "NVIDIA GB10", "DGX Spark", "GH200 480GB", "NVIDIA GB200", "NVIDIA GB300"])
def test_grace_is_an_arm(name: str) -> None:
    found = with_own_arch(machine(name), load())
    assert (found.arch, found.assumed) == ("aarch64", ("python",))


@pytest.mark.parametrize("names", [(), ("NVIDIA H200",), ("B200",), ("GB200", "H100"), ("a GPU of tomorrow",)])
def test_cards_tell_nothing(names: tuple[str, ...]) -> None:
    given = machine(*names)
    assert with_own_arch(given, load()) == given


def test_what_was_said_stays() -> None:
    given = machine("GB10", assumed=())
    assert with_own_arch(given, load()) == given
    windows = machine("GB10", os="windows")
    assert with_own_arch(windows, load()) == windows
