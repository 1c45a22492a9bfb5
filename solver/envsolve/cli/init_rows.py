"""A row of the README's table: a lock that was made, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envsolve.keeping.readme_section import JudgedFor
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.machine import Machine


def row_of(answer: Locked, file: str) -> JudgedFor:
    """The row for a target's lock."""
    from envsolve.keeping.readme_section import JudgedFor

    plan = answer.plan
    torch = next((p.label(plan.variant) for p in plan.packages if p.name == "torch"), "none")
    runs = dict.fromkeys(f"{fit.gpu}: {fit.verdict} {fit.code}".rstrip() for fit in plan.fits)
    return JudgedFor(
        machine=_machine(plan.machine),
        python=answer.lock.python,
        torch=torch,
        runs=", ".join(runs) or "on the CPU",
        lock=file,
    )


def _machine(machine: Machine) -> str:
    names = [gpu.name or f"a GPU of {gpu.compute_capability or gpu.gfx}" for gpu in machine.gpus]
    counted = dict.fromkeys(f"{names.count(name)}x {name}" if names.count(name) > 1 else name for name in names)
    parts = [" + ".join(counted) or "no GPU"]
    if machine.driver is not None:
        parts.append(f"driver {machine.driver}")
    return ", ".join([*parts, f"{machine.os} {machine.arch}"])
