"""Driver remedies: a newer driver where it helps, an older one where the branch has dropped a card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits, driver_of
from envsolve.machine.machine import Machine
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import survey
from envsolve.rulebook.rulebook import Rulebook


def driver_remedies(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The first branch with which the request is solved, never past the last that drives every card."""
    current = driver_of(machine, rulebook).branch
    if vendor_of(machine) != "nvidia" or machine.tegra or current is None:
        return  # a Tegra's driver comes with its JetPack
    last = _last_branch(machine, rulebook)
    if last is not None and current > last:
        yield from _downgrade(machine, request, rulebook, last)
        return
    for branch in sorted(rulebook.branches):
        if branch < current or (last is not None and branch > last):
            continue
        if row := _solve(machine, branch, request, rulebook):
            limit = f", but not past R{last}, the last for this card" if last is not None else ""
            newer = f"a newer release of driver branch R{branch}" if branch == current else f"driver branch R{branch}"
            text = f"{newer} or newer{limit}: then torch {row.build.torch} ({row.build.variant}) runs"
            yield Remedy(code="driver-update", text=text)
            return


def _last_branch(machine: Machine, rulebook: Rulebook) -> int | None:
    limits = [branch_limits(g.compute_capability, rulebook) for g in machine.gpus if g.compute_capability]
    return min((last for _, last in limits if last is not None), default=None)


def _downgrade(machine: Machine, request: Request, rulebook: Rulebook, last: int) -> Iterator[Remedy]:
    if row := _solve(machine, last, request, rulebook):
        text = f"go back to driver branch R{last}, the last that drives this card: torch {row.build.torch} runs there"
        yield Remedy(code="driver-downgrade", text=text)


def _solve(machine: Machine, branch: int, request: Request, rulebook: Rulebook) -> Row | None:
    """The row that the request would get with the newest driver of a branch."""
    changed = replace(machine, driver=None, cuda_max=rulebook.branches[branch].cuda)
    running = survey(changed, request, rulebook).running
    return running[0] if running else None
