"""Superchip: the processor of a machine whose GPU brings it along, where nobody said what processor it has."""

from __future__ import annotations

from typing import cast

from envsolve.machine.machine import Arch, Gpu, Machine
from envsolve.record import replace
from envsolve.rulebook.rulebook import Rulebook


def with_own_arch(machine: Machine, rulebook: Rulebook) -> Machine:
    """The machine with the architecture of its superchips (GH200: aarch64) in place of one that was only assumed."""
    if "arch" not in machine.assumed or not machine.gpus or machine.os != "linux":
        return machine
    found = {_arch(gpu, rulebook) for gpu in machine.gpus}
    arch = found.pop()
    if found or arch is None:
        return machine
    return replace(machine, arch=arch, assumed=tuple(name for name in machine.assumed if name != "arch"))


def _arch(gpu: Gpu, rulebook: Rulebook) -> Arch | None:
    """The architecture that every name of the rules brings for which this GPU's name may stand."""
    names = rulebook.gpu_names.find(gpu.name).names if gpu.name else ()
    found = {rulebook.superchip_arch(name) for name in names}
    return cast("Arch | None", found.pop()) if len(found) == 1 else None
