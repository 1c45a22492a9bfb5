"""Scenarios: the machines that a partly known machine may be. Where all give one answer, nothing more need be asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from envsolve.capability import Capability
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits
from envsolve.judge.identify import Identity, identify, with_capability
from envsolve.machine.machine import Machine
from envsolve.resolve.plan import Missing
from envsolve.rulebook.rulebook import Rulebook

_READ_DRIVER = 'run nvidia-smi and read "Driver Version", then add driver=… to --target'
_READ_GPU = "run nvidia-smi --query-gpu=name,compute_cap --format=csv, then name the GPU or add cc=… to --target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A machine with everything filled in that names and drivers tell, and what is still missing."""

    machine: Machine
    missing: tuple[Missing, ...]
    identities: tuple[Identity, ...]
    driver_missing: bool


def know(machine: Machine, rulebook: Rulebook) -> Known:
    """Identify the GPUs and list what decides and is not known."""
    if vendor_of(machine) is None:
        missing = (_no_gpu(machine), Missing(field="driver", how=_READ_DRIVER))
        return Known(machine=machine, missing=missing, identities=(), driver_missing=True)
    if vendor_of(machine) != "nvidia":
        return Known(machine=machine, missing=(), identities=(), driver_missing=False)
    identities = tuple(identify(g, rulebook) for g in machine.gpus)
    unknown = [_which_gpu(i) for i in identities if not i.known]
    if not machine.gpus:
        unknown.append(Missing(field="gpu", how=_READ_GPU))
    driver_missing = machine.driver is None and machine.cuda_max is None
    if driver_missing:
        unknown.append(Missing(field="driver", how=_READ_DRIVER))
    machine = replace(machine, gpus=tuple(i.gpu for i in identities))
    return Known(machine=machine, missing=tuple(unknown), identities=identities, driver_missing=driver_missing)


def scenarios(known: Known, rulebook: Rulebook) -> Iterator[Machine]:
    """Every machine that the unknown facts allow: each capability of each unknown GPU, each driver branch for it."""
    machine = known.machine
    every = known_capabilities(rulebook)
    choices: list[tuple[Capability, ...]] = [i.possible or every for i in known.identities]
    for combination in itertools.product(*choices):
        filled = with_capability(machine, dict(enumerate(combination)))
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
    limits = branch_limits(capability, rulebook) if capability is not None else (None, None)
    first, last = limits
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
