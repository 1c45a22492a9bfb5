"""The three answers of the planner: Plan, NoPlan, NeedsInput."""

from __future__ import annotations

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.judge.fit import GpuFit, Note, Refusal
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.resolve.request import Request
from envsolve.resolve.row import PlannedPackage, Row
from envsolve.rulebook.tables import Build

ANY = "any"  # stands for the variant of a torch that has none


@record
class Refused:
    """A (torch, variant) that the request allows and that does not run, with every true refusal, the decisive first."""

    torch: Version
    variant: str
    refusals: tuple[Refusal, ...]


@record
class Remedy:
    """A way out that was checked: a code of the contract, what to do, and the command that does it ("" if none)."""

    code: str
    text: str
    command: str = ""


@record
class Missing:
    """A fact that decides and is not known, and how to find it."""

    field: str
    how: str


@record
class Plan:
    """What to install and why it runs.

    `packages` holds torch and the asked companions; `others` the user's further requirements with the numpy cap where
    torch needs it; `unresolved` the names among them that were not looked at (no index was asked, or none has them),
    `resolved` name and version of those that were.
    """

    machine: Machine
    request: Request
    build: Build
    index_url: str
    python: str
    packages: tuple[PlannedPackage, ...]
    others: tuple[Requirement, ...]
    unresolved: tuple[str, ...]
    fits: tuple[GpuFit, ...]
    notes: tuple[Note, ...]
    refused: tuple[Refused, ...]
    remedies: tuple[Remedy, ...] = ()
    # The other rows that run, best first: for a lock whose planned file is not on the index.
    alternatives: tuple[Row, ...] = ()
    resolved: tuple[tuple[str, str], ...] = ()
    # Wheels of the other requirements that are on no index, by address: taken where no index has one.
    wheels: tuple[Requirement, ...] = ()
    # Pages of such wheels: where they are said to be, not looked at unasked.
    pages: tuple[str, ...] = ()

    @property
    def variant(self) -> str:
        return self.build.variant


@record
class GpuChoice:
    """What one build covers of a box whose cards no build serves together: GPU indexes, names, and the command."""

    torch: Version
    variant: str
    gpus: tuple[int, ...]
    covered: tuple[str, ...]
    lost: tuple[str, ...]
    command: str


@record
class NoPlan:
    """Nothing runs: the guilty input in one sentence, every refusal, and the checked ways out, cheapest first.

    `choices` is the table for a mixed box: what the best builds cover, the one that covers most first.
    """

    machine: Machine
    request: Request
    guilty: str
    refused: tuple[Refused, ...]
    remedies: tuple[Remedy, ...]
    notes: tuple[Note, ...] = ()
    fits: tuple[GpuFit, ...] = ()
    choices: tuple[GpuChoice, ...] = ()


@record
class NeedsInput:
    """The answer depends on something that is not known."""

    machine: Machine
    request: Request
    missing: tuple[Missing, ...]
    refused: tuple[Refused, ...] = ()
    notes: tuple[Note, ...] = ()


__all__ = ["Answer", "GpuChoice", "Missing", "NeedsInput", "NoPlan", "Plan", "PlannedPackage", "Refused", "Remedy"]

Answer = Plan | NoPlan | NeedsInput
