"""The commands by which each system changes its driver, from the rules."""

from __future__ import annotations

from envsolve.capability import Capability
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.rulebook.ways_rows import DriverCommands
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways.kernel_modules import module_kind


@record
class Steps:
    """What to type on one system, in order; lines that begin with # are for people."""

    system: str
    title: str
    lines: tuple[str, ...]
    note: str
    source: str


def systems_of(machine: Machine) -> tuple[str, ...]:
    """The systems whose commands may be this machine's; in WSL it is Windows that has the driver."""
    if machine.wsl:
        return ("wsl",)
    return ("windows",) if machine.os == "windows" else ("ubuntu", "debian", "rhel")


def steps_for(machine: Machine, branch: int, found: tuple[Capability, ...], ways: Ways) -> tuple[Steps, ...]:
    """The steps to a branch for each system that the machine may be."""
    kind = module_kind(found, branch, ways)
    return tuple(
        _steps(ways.old_branches.get((system, branch), ways.driver_commands[system]), kind, branch)
        for system in systems_of(machine)
    )


def _steps(commands: DriverCommands, kind: str, branch: int) -> Steps:
    lines = commands.open if kind == "open" else commands.proprietary
    hold = commands.hold
    if kind == "open":
        hold = tuple(f"{line}-open" for line in hold)
    # The branch is kept before the restart, which may otherwise be followed by an unattended upgrade.
    ordered = (*(line for line in lines if line != "sudo reboot"), *hold, *(x for x in lines if x == "sudo reboot"))
    return Steps(
        system=commands.system,
        title=commands.title,
        lines=tuple(line.format(branch=branch) for line in ordered),
        note=commands.note.format(branch=branch),
        source=commands.source,
    )
