"""Whether a build's accelerator is the machine's: no build for another one, and never a silent CPU."""

from __future__ import annotations

from envsolve.judge.fit import Refusal
from envsolve.machine.machine import Machine, Vendor
from envsolve.rulebook.tables import Accelerator, Build

# Whose GPUs an accelerator uses.
SERVES: dict[Accelerator, Vendor] = {"cuda": "nvidia", "rocm": "amd", "xpu": "intel", "mps": "apple"}
_SPOKEN: dict[Accelerator, str] = {"cuda": "CUDA", "rocm": "ROCm", "xpu": "Intel XPU", "mps": "Apple MPS", "cpu": "CPU"}


def vendor_of(machine: Machine) -> Vendor | None:
    """Whose GPU is to be used; None = not known."""
    return "nvidia" if machine.gpus and machine.vendor is None else machine.vendor


def accelerator_refusal(build: Build, machine: Machine, *, asked: bool) -> Refusal | None:
    """A build of another accelerator is refused; one that the user asked for by variant or label is honoured
    where no other GPU contradicts it, and a CPU build always."""
    vendor = vendor_of(machine)
    if build.accelerator == "cpu":
        fits = asked or vendor == "none" or _only_the_mac_build(machine)
    elif build.accelerator == "mps":
        fits = _only_the_mac_build(machine)
    else:
        fits = vendor == SERVES[build.accelerator] or (asked and vendor == "none")
    if fits:
        return None
    return Refusal(code="wrong-accelerator", text=_why(build, vendor), blames=("accelerator",))


def _only_the_mac_build(machine: Machine) -> bool:
    """macOS has one build of each release, which uses the GPU where it can: there is nothing else to prefer."""
    return machine.os == "macos" and vendor_of(machine) != "nvidia"


def _why(build: Build, vendor: Vendor | None) -> str:
    kind = _SPOKEN[build.accelerator]
    if vendor is None:
        return f"a {kind} build; which GPU there is is not known"
    if vendor == "none":
        return f"a {kind} build, but there is no such GPU"
    owner = {"nvidia": "an NVIDIA", "amd": "an AMD", "intel": "an Intel", "apple": "an Apple"}[vendor]
    return f"a {kind} build, but there is {owner} GPU"
