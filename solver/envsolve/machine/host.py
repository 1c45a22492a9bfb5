"""The host itself: system, architecture, C library and the running Python."""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from envsolve.dotted import Dotted
from envsolve.errors import OutsideError
from envsolve.machine.machine import Arch, Libc, Machine, Os, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import arch_name, os_name

if TYPE_CHECKING:
    from envsolve.machine.probe import Probe

_ROSETTA_SECONDS = 5.0


def this_host() -> Machine:
    """What a target may be completed with: os, arch and the running Python's minor version.

    Raises OutsideError where PyTorch has no wheels at all.
    """
    os = host_os(sys.platform)
    return Machine(os=os, arch=host_arch(platform.machine(), os), python=running_python())


def read_host(probe: Probe) -> Reading:
    """The reading of the host: os, arch, libc, the running Python. Raises OutsideError as this_host does."""
    os = host_os(probe.system)
    arch, problems = _real_arch(probe, os)
    return Reading(
        source="host",
        os=os,
        arch=arch,
        libc=host_libc(probe.wheel_tags()) if os == "linux" else None,
        python=running_python(),
        problems=(*problems, *_bits_problem(struct.calcsize("P") * 8)),
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


def host_libc(tags: Iterable[str]) -> Libc | None:
    """The C library that the running Python uses, by the wheel tags that it takes, best first; None where unknown."""
    return next((libc for tag in tags if (libc := _libc_of_tag(tag))), None)


def running_python() -> str:
    """The minor version of the running Python: 3.11."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _libc_of_tag(tag: str) -> Libc | None:
    """manylinux_2_39_x86_64 is glibc 2.39, musllinux_1_2_x86_64 is musl 1.2."""
    words = tag.split("_")
    if words[0] not in ("manylinux", "musllinux") or len(words) < 4 or not (words[1] + words[2]).isdecimal():
        return None
    version = Dotted.parse(f"{words[1]}.{words[2]}")
    return Libc(name="glibc" if words[0] == "manylinux" else "musl", version=version)


def _real_arch(probe: Probe, os: Os) -> tuple[Arch, tuple[Problem, ...]]:
    """The machine's own architecture, where the running Python is a translated one (Rosetta, Windows on Arm)."""
    told = "AMD64" if probe.processor.lower() in ("i386", "i686", "x86") else probe.processor
    native = told
    if os == "windows":
        native = probe.environ.get("PROCESSOR_ARCHITEW6432") or told
    elif os == "macos" and told == "x86_64":
        asked = probe.run(["sysctl", "-n", "sysctl.proc_translated"], _ROSETTA_SECONDS)
        native = "arm64" if asked.out.strip() == "1" else told
    arch = host_arch(native, os)
    if arch == host_arch(told, os):
        return arch, ()
    text = f"this Python is an {told} program that runs translated on {arch}; plan for a native Python"
    return arch, (Problem(code="python-translated", text=text),)


def _bits_problem(bits: int) -> tuple[Problem, ...]:
    if bits == 64:
        return ()
    return (Problem(code="python-32-bit", text=f"the running Python has {bits} bits; PyTorch has 64-bit wheels only"),)
