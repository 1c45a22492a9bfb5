"""Driver end: a driver branch that is past its end, or that ends soon, and the branch to go to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits, branch_of
from envsolve.keeping.finding import Finding
from envsolve.keeping.month import months_until, told
from envsolve.machine.machine import Machine
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import DriverBranch


def driver_endings(machine: Machine, rulebook: Rulebook, *, today: date, ahead: int) -> Iterator[Finding]:
    """The warning for the branch of a machine's NVIDIA driver; none where the driver or its branch's end is unknown."""
    if machine.driver is None or vendor_of(machine) != "nvidia":
        return
    branch = branch_of(machine.driver, rulebook)
    row = rulebook.branches[branch] if branch is not None else None
    code = _code(row, today, ahead) if row else None
    if row is None or code is None:
        return
    when = told(row.end_of_life, today) if row.end_of_life else "is past its end (the month is not in the rules)"
    yield Finding(
        code=code,
        text=f"driver {machine.driver}: branch R{row.branch} {when}",
        hint=_next(row, machine, rulebook, today, ahead),
        certainty=row.end_certainty,
        source=row.source,
    )


def _code(row: DriverBranch, today: date, ahead: int) -> str | None:
    if not row.end_of_life:
        return "driver-ended" if row.ended else None
    left = months_until(row.end_of_life, today)
    if left > ahead:
        return None
    return "driver-ended" if left < 0 else "driver-ending"


def _next(row: DriverBranch, machine: Machine, rulebook: Rulebook, today: date, ahead: int) -> str:
    """The long-term branch, else the production branch, that is kept longest and drives all cards."""
    last = last_branch(machine, rulebook)
    later = [b for b in rulebook.branches.values() if b.branch > row.branch and (last is None or b.branch <= last)]
    kept = [b for b in later if b.kind in ("LTS", "production") and _kept(b, today, ahead)]
    if kept:
        best = max(kept, key=lambda b: (b.kind == "LTS", b.end_of_life))
        return f"R{best.branch} ({best.kind}) is kept until {best.end_of_life}; envsolve driver says how"
    if last is not None and last <= row.branch:
        return f"R{last} is the last branch that drives the card: plan for another one"
    return "the rules know no newer branch that is kept longer"


def _kept(branch: DriverBranch, today: date, ahead: int) -> bool:
    return bool(branch.end_of_life) and months_until(branch.end_of_life, today) > ahead


def last_branch(machine: Machine, rulebook: Rulebook) -> int | None:
    """The last branch that drives all cards; None = no limit known."""
    known = [gpu.compute_capability for gpu in machine.gpus if gpu.compute_capability is not None]
    limits = [branch_limits(capability, rulebook)[1] for capability in known]
    return min((last for last in limits if last is not None), default=None)
