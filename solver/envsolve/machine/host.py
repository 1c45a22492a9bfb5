"""The host itself: system, architecture, C library and the running Python."""

from __future__ import annotations

import platform
import sys

from packaging.tags import platform_tags

from envsolve.dotted import Dotted
from envsolve.errors import OutsideError
from envsolve.machine.machine import Arch, Libc, Machine, Os
from envsolve.machine.probe import Probe
from envsolve.machine.reading import Reading
from envsolve.machine.words import arch_name, os_name


def this_host() -> Machine:
    """This machine without its GPUs: os, arch, libc, python. Raises OutsideError where PyTorch has no wheels at all."""
    os = host_os(sys.platform)
    return Machine(os=os, arch=host_arch(platform.machine(), os), libc=host_libc(os), python=running_python())


def read_host(probe: Probe) -> Reading:
    """The reading of the host: os, arch, libc, python."""
    os = host_os(probe.system)
    return Reading(
        source="host", os=os, arch=host_arch(probe.processor, os), libc=host_libc(os), python=running_python()
    )


def host_os(word: str) -> Os:
    """The system of `sys.platform`. Raises OutsideError for others than Linux, Windows and macOS."""
    os = os_name("linux" if word.startswith("linux") else word)
    if os is None:
        raise OutsideError(f"PyTorch publishes no wheels for {word}", hint="describe another machine with --target")
    return os


def host_arch(word: str, os: Os) -> Arch:
    """The architecture of `platform.machine()`. Raises OutsideError for those without wheels."""
    arch = arch_name(word, os)
    if arch is None:
        raise OutsideError(
            f"PyTorch publishes no wheels for the architecture {word}", hint="describe another machine with --target"
        )
    return arch


def host_libc(os: Os) -> Libc | None:
    """The C library that the running Python uses, by the wheel tags it takes; None off Linux or where unknown."""
    return libc_of_tag(next(iter(platform_tags()), "")) if os == "linux" else None


def libc_of_tag(tag: str) -> Libc | None:
    """The C library of a platform tag: manylinux_2_39_x86_64 is glibc 2.39, musllinux_1_2_x86_64 is musl 1.2."""
    words = tag.split("_")
    if words[0] not in ("manylinux", "musllinux") or len(words) < 3 or not (words[1] + words[2]).isdecimal():
        return None
    version = Dotted.parse(f"{words[1]}.{words[2]}")
    return Libc(name="glibc" if words[0] == "manylinux" else "musl", version=version)


def running_python() -> str:
    """The minor version of the running Python: 3.11."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"
