"""The host's side of a judgement: Python, C library, operating system."""

from __future__ import annotations

from functools import cache

from envsolve.dotted import Dotted
from envsolve.judge.fit import Refusal
from envsolve.machine.machine import Machine
from envsolve.rulebook.tables import Build


def python_refusal(build: Build, python: str) -> Refusal | None:
    """A build has wheels for a range of CPython minors; `python` is "3.11" or "3.11.7", with a t when free-threaded."""
    freethreaded = python.endswith("t")
    minor = minor_of(python)
    first, last = build.python
    if freethreaded:
        if minor in build.freethreaded:
            return None
        text = f"no wheel for free-threaded Python {python}"
        return Refusal(code="python-unsupported", text=text, blames=("python",))
    if first <= minor <= last:
        return None
    return Refusal(
        code="python-unsupported", text=f"no wheel for Python {minor} (has {first} to {last})", blames=("python",)
    )


@cache
def minor_of(python: str) -> Dotted:
    """The major.minor of a Python version: "3.11.7" -> 3.11."""
    return Dotted.parse(".".join(python.removesuffix("t").split(".")[:2]))


def libc_refusal(build: Build, machine: Machine) -> Refusal | None:
    """musl has no wheels; glibc must be as new as the wheel's tag. An unknown libc refuses nothing."""
    libc = machine.libc
    if machine.os != "linux" or libc is None:
        return None
    if libc.name == "musl":
        return Refusal(code="musl", text="wheels need glibc, this system has musl", blames=("libc",))
    if build.glibc_min is None or libc.version is None or libc.version >= build.glibc_min:
        return None
    text = f"needs glibc {build.glibc_min} or newer, this is {libc.version}"
    return Refusal(code="glibc-too-old", text=text, blames=("libc",))
