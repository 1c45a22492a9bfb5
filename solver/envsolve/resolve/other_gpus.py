"""Other GPUs: what is known of AMD's and Intel's by their names, and what they may be where that is not enough."""

from __future__ import annotations

from envsolve.machine.machine import Gpu, Machine
from envsolve.record import replace
from envsolve.resolve.known import Known
from envsolve.resolve.plan import Missing
from envsolve.rulebook.other_names import gfx_of, xpu_product
from envsolve.rulebook.rulebook import Rulebook


def know_amd(machine: Machine, rulebook: Rulebook) -> Known:
    """Each GPU with its gfx target. Only Linux has ROCm builds, so nothing is asked for elsewhere."""
    gpus = tuple(_with_gfx(gpu, rulebook) for gpu in machine.gpus)
    known = replace(machine, gpus=gpus)
    missing = tuple(_which_gfx(gpu) for gpu in gpus if gpu.gfx is None)
    if not missing or machine.os != "linux":
        return Known(machine=known)
    every = tuple(sorted({row.gfx for row in rulebook.amd_products.values()}))
    choices = tuple((g,) if g.gfx is not None else tuple(replace(g, gfx=gfx) for gfx in every) for g in gpus)
    return Known(machine=known, missing=missing, choices=choices)


def _with_gfx(gpu: Gpu, rulebook: Rulebook) -> Gpu:
    gfx = gpu.gfx or (gfx_of(gpu.name, rulebook) if gpu.name is not None else None)
    return replace(gpu, gfx=gfx)


def _which_gfx(gpu: Gpu) -> Missing:
    told = f'"{gpu.name}" is not an AMD GPU that the rules know' if gpu.name else "which AMD GPU it is is not known"
    return Missing(field="gpu", how=f"{told}: run rocminfo | grep gfx, then name that target, for example gfx1100")


def know_intel(machine: Machine, rulebook: Rulebook) -> Known:
    """Whether xpu builds serve each GPU. One that the rules don't know may be Intel's graphics that none serves."""
    missing = tuple(_which_intel(gpu) for gpu in machine.gpus if _unknown(gpu, rulebook))
    if not missing:
        return Known(machine=machine)
    unserved = next(row.words for row in rulebook.xpu_products if row.first is None)
    choices = tuple((g, replace(g, name=unserved)) if _unknown(g, rulebook) else (g,) for g in machine.gpus)
    return Known(machine=machine, missing=missing, choices=choices)


def _unknown(gpu: Gpu, rulebook: Rulebook) -> bool:
    return gpu.name is None or xpu_product(gpu.name, rulebook) is None


def _which_intel(gpu: Gpu) -> Missing:
    told = f'"{gpu.name}" is not an Intel GPU that the rules know' if gpu.name else "which Intel GPU it is is not known"
    served = "xpu builds serve Data Center GPU Max, Arc, and the Arc graphics of Core Ultra"
    return Missing(field="gpu", how=f"{told}; {served}: name it so in --target, or give --variant xpu or --variant cpu")
