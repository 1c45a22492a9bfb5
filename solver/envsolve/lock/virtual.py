"""The virtual packages of a machine, as conda names what it finds on a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envsolve.dotted import Dotted
from envsolve.judge.driver import driver_of
from envsolve.lock.conda import Virtual
from envsolve.machine.machine import Machine
from envsolve.rulebook.rulebook import Rulebook

# The oldest that conda-lock itself takes for granted: nothing in a Machine says which one runs.
_LINUX_KERNEL = "5.10"
_MACOS = "11.0"
_ARCHSPECS: Mapping[str, str] = {"linux_aarch64": "aarch64", "macos_arm64": "arm64", "windows_arm64": "arm64"}


def virtual_packages(machine: Machine, rulebook: Rulebook, *, glibc: Dotted) -> tuple[Virtual, ...]:
    """The virtual packages of a machine; `glibc` stands in where the machine's own is not known.

    `__cuda` is the newest CUDA of the driver; it is left out without an NVIDIA GPU and where the driver is not known.
    """
    return tuple(_virtual(machine, rulebook, glibc))


def _virtual(machine: Machine, rulebook: Rulebook, glibc: Dotted) -> Iterator[Virtual]:
    if machine.os == "windows":
        yield Virtual(name="__win", version="0")
    else:
        yield Virtual(name="__unix", version="0")
    if machine.os == "linux":
        known = machine.libc.version if machine.libc and machine.libc.name == "glibc" else None
        yield Virtual(name="__linux", version=_LINUX_KERNEL)
        yield Virtual(name="__glibc", version=str(known or glibc))
    if machine.os == "macos":
        yield Virtual(name="__osx", version=_MACOS)
    yield Virtual(name="__archspec", version="1", build=_ARCHSPECS.get(machine.platform, "x86_64"))
    cuda = driver_of(machine, rulebook).cuda if machine.gpus else None
    if cuda is not None:
        yield Virtual(name="__cuda", version=str(cuda))
