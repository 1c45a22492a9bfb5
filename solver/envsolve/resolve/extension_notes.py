"""Extension notes: libraries with CUDA code of their own, which a plan for torch does not cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.requirements import Requirement

from envsolve.judge.fit import Note, Refusal
from envsolve.machine.machine import Machine
from envsolve.resolve.row import Row
from envsolve.resolve.survey import Survey
from envsolve.rulebook.ways_tables import Ways, load_ways
from envsolve.ways.extensions import constraint, known


def extension_notes(machine: Machine, others: Sequence[Requirement], row: Row, found: Survey) -> Iterator[Note]:
    """For each such library: the wheel that goes with the planned torch, or that there is none and which torch has."""
    ways = load_ways()
    for requirement in known(others, ways):
        said = constraint(requirement, row.build, machine, ways)
        if isinstance(said, Note):
            yield said
        elif isinstance(said, Refusal):
            yield Note(code="extension-missing", text=f"{said.text}{_instead(requirement, machine, found, ways)}")


def _instead(requirement: Requirement, machine: Machine, found: Survey, ways: Ways) -> str:
    """The best of the running rows that the library has a wheel for."""
    for row in found.running:
        if not isinstance(constraint(requirement, row.build, machine, ways), Refusal):
            return f"; torch=={row.packages[0].label(row.build.variant)} would have one"
    return "; no torch that runs here has one"
