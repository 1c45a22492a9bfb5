"""Driver remedies: a newer driver where it helps, an older one where the branch has dropped a card."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits, driver_of
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.loosen import command
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import survey
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.cards import datacentre

# What another driver mends, if anything.
DRIVER_CODES = frozenset(("driver-too-old", "ptx-needs-newer-driver", "gpu-driver-mismatch", "driver-too-new"))


def driver_remedies(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The first branch with which the request is solved, never past the last that drives every card."""
    current = driver_of(machine, rulebook).branch
    if vendor_of(machine) != "nvidia" or machine.tegra or current is None:
        return  # a Tegra's driver comes with its JetPack
    first, last = driver_limits(machine, rulebook)
    if last is not None and current > last:
        yield from _downgrade(machine, request, rulebook, last)
        return
    for branch in sorted(rulebook.branches):
        if branch < max(current, first) or (last is not None and branch > last):
            continue
        if row := _solve(machine, branch, request, rulebook):
            limit = f", but not past R{last}, the last for this card" if last is not None else ""
            newer = f"a newer release of driver branch R{branch}" if branch == current else f"driver branch R{branch}"
            text = f"{newer} or newer{limit}: then torch {row.build.torch} ({row.build.variant}) runs"
            text += _compat(machine, current, row)
            yield Remedy(code="driver-update", text=text, command=command(request, program="driver"))
            return


def _compat(machine: Machine, branch: int, row: Row) -> str:
    """Data-centre cards may keep their driver: cuda-compat brings a newer CUDA along."""
    ways = load_ways()
    listed = ways.forward_compat.get(row.build.cuda) if row.build.cuda is not None else None
    if listed is None or branch not in listed.branches or machine.os != "linux" or machine.wsl:
        return ""
    if not datacentre(machine, ways) or any(g.verdict == "jit" for g in row.fit.gpus):
        return ""
    major, minor = (*listed.cuda.parts, 0)[:2]
    return f"; or cuda-compat-{major}-{minor} beside this driver, which data-centre cards may use"


def driver_limits(machine: Machine, rulebook: Rulebook) -> tuple[int, int | None]:
    """The first and the last branch that drive all cards, unsure rules included: no advice goes beyond them."""
    limits = [branch_limits(g.compute_capability, rulebook) for g in machine.gpus if g.compute_capability]
    first = max((first for first, _ in limits if first is not None), default=0)
    return first, min((last for _, last in limits if last is not None), default=None)


def _downgrade(machine: Machine, request: Request, rulebook: Rulebook, last: int) -> Iterator[Remedy]:
    if row := _solve(machine, last, request, rulebook):
        text = f"go back to driver branch R{last}, the last that drives this card: torch {row.build.torch} runs there"
        yield Remedy(code="driver-downgrade", text=text, command=command(request, program="driver"))


def _solve(machine: Machine, branch: int, request: Request, rulebook: Rulebook) -> Row | None:
    """The row that the request would get with the newest driver of a branch."""
    changed = replace(machine, driver=None, cuda_max=rulebook.branches[branch].cuda)
    running = survey(changed, request, rulebook).running
    return running[0] if running else None
