"""Forward compatibility: a newer CUDA on an older driver by cuda-compat, for data-centre GPUs alone."""

from __future__ import annotations

from envsolve.judge.driver import Driver
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build, Certainty
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways import cards
from envsolve.ways.driver_goal import best_fit, newest_running


@record
class Compat:
    """The package that brings a newer user-mode driver, the build that runs with it, and the commands by system."""

    package: str
    build: Build
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    certainty: Certainty
    source: str


def compat_for(
    machine: Machine, current: Driver, first: int | None, top: int, rulebook: Rulebook, ways: Ways
) -> Compat | None:
    """The newest build that cuda-compat makes run under the current branch; None where it isn't allowed or listed.

    `top` is the newest branch that drives the cards: builds are judged as under its driver.
    """
    branch = current.branch
    if machine.os != "linux" or current.windows or branch is None or not cards.datacentre(machine, ways):
        return None
    if first is not None and branch < first:  # the kernel-mode driver itself doesn't know the card
        return None
    rows = [row for row in ways.forward_compat.values() if branch in row.branches]
    sure = [row for row in rows if row.certainty != "low"]  # a doubtful listing is used where there is no other
    listed = {row.cuda for row in sure or rows}
    fit = best_fit(machine, top, rulebook, lambda build: build.cuda in listed)
    if fit is None or fit.build.cuda is None:
        return None
    cuda = fit.build.cuda
    row = ways.forward_compat[cuda]
    major, minor = (*cuda.parts, 0)[:2]
    package = f"cuda-compat-{major}-{minor}"
    lines = tuple(
        (system, tuple(line.format(package=package, cuda=f"{major}.{minor}") for line in template))
        for system, template in ways.compat_commands.items()
    )
    return Compat(package=package, build=fit.build, lines=lines, certainty=row.certainty, source=row.source)


def gains(compat: Compat, machine: Machine, rulebook: Rulebook) -> bool:
    """Whether the package brings a newer torch than what the driver runs as it is: else there is nothing to add it for.

    `machine` has a capability for every GPU.
    """
    now = newest_running(machine, rulebook)
    return now is None or compat.build.torch > now.build.torch
