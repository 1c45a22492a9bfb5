"""The reasoned "no": the guilty inputs, every refusal, the ways out. Loaded only where nothing runs."""

from __future__ import annotations

from envsolve.judge.fit import Note
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.companions import Excluded
from envsolve.resolve.gpu_groups import best_groups, clash, cover
from envsolve.resolve.gpu_remedies import gpu_choice
from envsolve.resolve.guilty import guilty
from envsolve.resolve.plan import GpuChoice, NoPlan
from envsolve.resolve.refused import refused_rows
from envsolve.resolve.remedies import remedies_for
from envsolve.resolve.request import Request
from envsolve.resolve.survey import Survey, survey
from envsolve.rulebook.rulebook import Rulebook


def no_plan(machine: Machine, request: Request, rulebook: Rulebook, found: Survey, excluded: Excluded) -> NoPlan:
    """Explain a survey in which nothing runs."""
    everything = survey(machine, request, rulebook, excluded=excluded, pins=False)
    fewest, choices = _cards(machine, request, rulebook)
    return NoPlan(
        machine=machine,
        request=request,
        guilty=guilty(fewest, request, everything.refused),
        refused=refused_rows(machine, request, found, rulebook),
        remedies=remedies_for(machine, request, rulebook, found),
        fits=found.refused[0].fit.gpus if found.refused else (),
        choices=choices,
        notes=_one_driver(machine) if choices else (),
    )


def _cards(machine: Machine, request: Request, rulebook: Rulebook) -> tuple[Machine, tuple[GpuChoice, ...]]:
    """The machine with the fewest of its cards that can't be served together, and what the best builds cover."""
    if len(machine.gpus) < 2:
        return machine, ()
    covered = cover(machine, request, rulebook)
    fewest = replace(machine, gpus=tuple(machine.gpus[i] for i in clash(covered)) or machine.gpus)
    groups = best_groups(machine, covered, request, rulebook)
    return fewest, tuple(gpu_choice(group, machine, request) for group in groups)


def _one_driver(machine: Machine) -> tuple[Note, ...]:
    """Separate environments share the host's one driver: a note where none drives all of its cards."""
    from envsolve.rulebook.ways_tables import load_ways
    from envsolve.ways.cards import capabilities
    from envsolve.ways.kernel_modules import module_clash

    text = module_clash(machine, capabilities(machine) or (), load_ways())
    return (Note(code="kernel-modules", text=text),) if text else ()
