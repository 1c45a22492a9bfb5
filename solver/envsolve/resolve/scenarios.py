"""Scenarios: the machines that a partly known machine may be. Where all give one answer, nothing more need be asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from envsolve.capability import Capability
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits
from envsolve.judge.identify import Identity, identify
from envsolve.machine.machine import Gpu, Machine
from envsolve.machine.own_cards import own_cards
from envsolve.record import replace
from envsolve.resolve.known import Known
from envsolve.resolve.plan import Missing
from envsolve.rulebook.rulebook import Rulebook

_READ_DRIVER = 'run nvidia-smi and read "Driver Version", then add driver=… to --target'
_READ_GPU = "run nvidia-smi --query-gpu=name,compute_cap --format=csv, then name the GPU or add cc=… to --target"


def know(machine: Machine, rulebook: Rulebook) -> Known:
    """Identify the GPUs and list what decides and is not known."""
    machine = _own(machine)
    vendor = vendor_of(machine)
    if machine.os == "macos" and vendor != "nvidia":
        return Known(machine=machine)
    if vendor is None:
        missing = (_no_gpu(machine), Missing(field="driver", how=_READ_DRIVER))
        return Known(machine=machine, missing=missing, driver_missing=True)
    if vendor == "nvidia":
        return _know_nvidia(machine, rulebook)
    if vendor in ("amd", "intel") and machine.gpus:
        from envsolve.resolve.other_gpus import know_amd, know_intel  # most plans are for NVIDIA's

        return know_amd(machine, rulebook) if vendor == "amd" else know_intel(machine, rulebook)
    return Known(machine=machine)


def _own(machine: Machine) -> Machine:
    """The machine with the vendor that its GPUs' names tell where nothing else does, and that vendor's GPUs alone."""
    if not machine.gpus or (machine.vendor is not None and len(machine.gpus) == 1):
        return machine
    gpus, vendor, problems = own_cards(machine.gpus, machine.vendor)
    return replace(machine, gpus=gpus, vendor=vendor, problems=(*machine.problems, *problems))


def _know_nvidia(machine: Machine, rulebook: Rulebook) -> Known:
    identities = tuple(identify(g, rulebook) for g in machine.gpus or (Gpu(),))
    unknown = [_which_gpu(i) for i in identities if not i.known]
    driver_missing = machine.driver is None and machine.cuda_max is None
    if driver_missing:
        unknown.append(Missing(field="driver", how=_READ_DRIVER))
    machine = replace(machine, gpus=tuple(i.gpu for i in identities))
    if not unknown:
        return Known(machine=machine)
    choices = tuple(_may_be(i, machine, rulebook) for i in identities)
    return Known(machine=machine, missing=tuple(unknown), choices=choices, driver_missing=driver_missing)


def _may_be(identity: Identity, machine: Machine, rulebook: Rulebook) -> tuple[Gpu, ...]:
    """What a GPU may be. A driver that can't drive one of several chips of a name settles nothing: the name or the
    driver may be told wrong, so that it is asked."""
    possible = identity.possible or _capabilities(machine, rulebook)
    return tuple(replace(identity.gpu, compute_capability=c) for c in possible)


def _capabilities(machine: Machine, rulebook: Rulebook) -> tuple[Capability, ...]:
    """The capabilities that a GPU of which nothing is known may have in this machine."""
    if machine.tegra:
        boards = {c for row in rulebook.gpu_names.all() if "Jetson" in row.name for c in row.capabilities}
        return tuple(sorted(boards | rulebook.tegra_capabilities))
    integrated = rulebook.tegra_capabilities if machine.arch == "x86_64" else frozenset()
    return tuple(c for c in known_capabilities(rulebook) if c not in integrated)


def scenarios(known: Known, rulebook: Rulebook) -> Iterator[Machine]:
    """Every machine that the unknown facts allow: all that each GPU may be, and each driver branch for them."""
    for combination in itertools.product(*known.choices):
        filled = replace(known.machine, gpus=combination)
        if known.driver_missing:
            yield from _drivers(filled, rulebook)
        else:
            yield filled


def _drivers(machine: Machine, rulebook: Rulebook) -> Iterator[Machine]:
    """The machine with each driver's CUDA that can drive all its GPUs."""
    for branch in rulebook.branches.values():
        if all(_drives(branch.branch, g.compute_capability, rulebook) for g in machine.gpus):
            yield replace(machine, cuda_max=branch.cuda)


def _drives(branch: int, capability: Capability | None, rulebook: Rulebook) -> bool:
    first, last = branch_limits(capability, rulebook) if capability is not None else (None, None)
    return (first is None or branch >= first) and (last is None or branch <= last)


def known_capabilities(rulebook: Rulebook) -> tuple[Capability, ...]:
    """Every capability that an architecture of the rules names, oldest first."""
    return tuple(sorted({c for a in rulebook.architectures for c in (a.first, a.last, *a.branches)}))


def _which_gpu(identity: Identity) -> Missing:
    name = identity.gpu.name
    if name is None:
        return Missing(field="gpu", how=_READ_GPU)
    if identity.possible:
        may_be = " or ".join(str(c) for c in identity.possible)
        return Missing(field="gpu", how=f'"{name}" may have compute capability {may_be}: {_READ_GPU}')
    near = f" (near: {', '.join(identity.near)})" if identity.near else ""
    return Missing(field="gpu", how=f'"{name}" is not a GPU that the rules know{near}: {_READ_GPU}')


def _no_gpu(machine: Machine) -> Missing:
    problem = machine.problems[0].text if machine.problems else "the GPU is not known"
    return Missing(field="gpu", how=f"{problem}: name it in --target, or vendor=none if there is none")
