"""Known: a machine as far as names and drivers tell of it."""

from __future__ import annotations

from envsolve.machine.machine import Gpu, Machine
from envsolve.record import record
from envsolve.resolve.plan import Missing


@record
class Known:
    """A machine with everything filled in that names and drivers tell, and what is still missing.

    `choices` holds for each GPU what it may be: one entry for a known GPU.
    """

    machine: Machine
    missing: tuple[Missing, ...] = ()
    choices: tuple[tuple[Gpu, ...], ...] = ()
    driver_missing: bool = False
