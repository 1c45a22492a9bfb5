"""Extension notes: libraries with CUDA code of their own, which a plan for torch does not cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.requirements import Requirement

from envsolve.judge.fit import Note, Refusal
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.loosen import command
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import Survey
from envsolve.rulebook.ways_tables import Ways, load_ways
from envsolve.ways.extensions import constraint, known


def extension_notes(
    machine: Machine, request: Request, others: Sequence[Requirement], row: Row, found: Survey
) -> Iterator[Note]:
    """For each such library: the wheel that goes with the planned torch, or that there is none and which torch has.

    Then which newer torch would run without them.
    """
    ways = load_ways()
    label = row.packages[0].label(row.build.variant)
    for requirement in known(others, ways):
        said = constraint(requirement, row.build, machine, ways)
        if isinstance(said, Note):
            yield said
        elif isinstance(said, Refusal):
            text = f"torch {label}: {said.text}{_instead(requirement, machine, found, ways)}"
            yield Note(code="extension-missing", text=text)

    yield from _held_back(request, others, row, found, ways)


def _held_back(request: Request, others: Sequence[Requirement], row: Row, found: Survey, ways: Ways) -> Iterator[Note]:
    """The newest torch that only such a library rules out, and how to have it."""
    ruled_out = [r for r in found.refused if all("extension" in refusal.blames for refusal in r.refusals)]
    newer = [r for r in ruled_out if r.build.torch > row.build.torch and r.packages]
    if newer:
        best = max(newer, key=lambda r: r.rank)
        left = replace(request, requirements=tuple(r for r in request.requirements if r not in known(others, ways)))
        label = best.packages[0].label(best.build.variant)
        text = f"torch {label} would run: {best.refusals[0].text}; without it: {command(left)}"
        yield Note(code="extension-holds-back", text=text)


def _instead(requirement: Requirement, machine: Machine, found: Survey, ways: Ways) -> str:
    """The best of the running rows that the library has a wheel for."""
    for row in found.running:
        if not isinstance(constraint(requirement, row.build, machine, ways), Refusal):
            return f"; torch=={row.packages[0].label(row.build.variant)} would have one"
    return "; no torch that runs here has one"
