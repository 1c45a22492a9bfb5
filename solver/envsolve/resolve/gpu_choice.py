"""Which GPUs a plan must run on: all, the best, the visible ones, or a list of indexes."""

from __future__ import annotations

from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Machine
from envsolve.record import replace
from envsolve.resolve.request import Request


def chosen(machine: Machine, request: Request) -> Machine:
    """The machine with the chosen GPUs only, in their order. Raises InputError for an index that isn't there."""
    gpus = request.gpus
    if gpus in ("all", "visible") or not machine.gpus:  # the caller turns "visible" into indexes; without a mask: all
        return machine
    if gpus == "best":
        return replace(machine, gpus=_best(machine.gpus))
    picked = []
    for index in gpus:
        if not isinstance(index, int) or not 0 <= index < len(machine.gpus):
            last = len(machine.gpus) - 1
            raise InputError(
                f"--gpus: there is no GPU {index}, they are 0 to {last}", hint="envsolve detect lists them"
            )
        picked.append(machine.gpus[index])
    return replace(machine, gpus=tuple(picked))


def _best(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPUs with the highest known capability; an unknown one stays, since it may be the best."""
    known = [g.compute_capability for g in gpus if g.compute_capability is not None]
    top = max(known, default=None)
    return tuple(g for g in gpus if g.compute_capability in (top, None))
