"""The reasoned "no": the guilty inputs, every refusal, the ways out. Loaded only where nothing runs."""

from __future__ import annotations

from envsolve.machine.machine import Machine
from envsolve.resolve.companions import Excluded
from envsolve.resolve.gpu_remedies import gpu_choices
from envsolve.resolve.guilty import guilty
from envsolve.resolve.plan import NoPlan
from envsolve.resolve.refused import refused_rows
from envsolve.resolve.remedies import remedies_for
from envsolve.resolve.request import Request
from envsolve.resolve.survey import Survey, survey
from envsolve.rulebook.rulebook import Rulebook


def no_plan(machine: Machine, request: Request, rulebook: Rulebook, found: Survey, excluded: Excluded) -> NoPlan:
    """Explain a survey in which nothing runs."""
    everything = survey(machine, request, rulebook, excluded=excluded, pins=False)
    return NoPlan(
        machine=machine,
        request=request,
        guilty=guilty(machine, request, everything.refused, rulebook),
        refused=refused_rows(machine, request, found, rulebook),
        remedies=remedies_for(machine, request, rulebook),
        fits=found.refused[0].fit.gpus if found.refused else (),
        choices=gpu_choices(machine, request, rulebook),
    )
