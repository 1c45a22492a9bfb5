"""Machine: what is known of a host and its GPUs. Unknown is None, never a guess."""

from __future__ import annotations

from typing import Literal

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.record import record

Os = Literal["linux", "windows", "macos"]
Arch = Literal["x86_64", "aarch64", "arm64"]
Vendor = Literal["nvidia", "amd", "intel", "apple", "none"]


@record
class Gpu:
    """One physical GPU; `name` as the tool printed it, `truncated` when the tool cut it ("NVIDIA GeForce ...")."""

    name: str | None = None
    compute_capability: Capability | None = None
    truncated: bool = False
    index: int | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    mig: bool = False
    gfx: str | None = None  # AMD: the gfx target (gfx1100)


@record
class Libc:
    """The C library: glibc with a version, or musl."""

    name: Literal["glibc", "musl"]
    version: Dotted | None = None


@record
class Finding:
    """One thing learnt and where it came from: field "driver", value "580.65.06", source "nvml"."""

    field: str
    value: str
    source: str


@record
class Problem:
    """Something wrong with the machine itself, with a code for programs and a sentence for people.

    Codes: driver-not-loaded, driver-library-mismatch, driver-ignores-gpu (the driver branch has dropped the card, or
    another driver has it), gpu-hidden (container, mask), gpu-lost, no-devices, no-driver, permission, wsl-stub,
    sources-disagree, python-32-bit, python-translated, unreadable, other-card (listed, and of no use to torch).
    """

    code: str
    text: str


@record
class Machine:
    """A host and its GPUs. Driver and CUDA are dotted integers; `cuda_max` is the driver's CUDA, never a toolkit.

    `gpus` has one entry per physical GPU; empty means no NVIDIA GPU. `vendor` "nvidia" with a nameless GPU means that
    a GPU is there and nothing is known about it. `assumed` names the fields that were defaulted to this machine's.
    """

    os: Os
    arch: Arch
    python: str | None = None
    libc: Libc | None = None
    driver: Dotted | None = None
    cuda_max: Dotted | None = None
    gpus: tuple[Gpu, ...] = ()
    wsl: bool = False
    tegra: bool = False
    vendor: Vendor | None = None
    pythons: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def platform(self) -> str:
        """The key of the rules: linux_x86_64, linux_aarch64, windows_amd64, macos_arm64, macos_x86_64."""
        if self.os == "windows":
            return "windows_amd64" if self.arch == "x86_64" else "windows_arm64"
        if self.os == "macos":
            return "macos_x86_64" if self.arch == "x86_64" else "macos_arm64"
        return "linux_x86_64" if self.arch == "x86_64" else "linux_aarch64"
