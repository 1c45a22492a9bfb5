"""Ways out beside another wheel, as commands: what the planner found to help on this machine, and driver advice."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from packaging.requirements import Requirement

from envsolve.doctor.finding import Fix
from envsolve.doctor.fixes import FAMILY
from envsolve.doctor.situation import Situation
from envsolve.errors import InputError
from envsolve.machine.spec import format_spec
from envsolve.record import replace
from envsolve.resolve.plan import NoPlan
from envsolve.resolve.planner import plan as make_plan
from envsolve.resolve.request import Request
from envsolve.ways.driver import advice

# Of the planner's remedies those that keep the GPU; the others are told by the causes in their own words.
_OFFERED = ("source-build", "vendor-index", "container-image", "other-python", "drop-gpu")


def remedies(s: Situation) -> Iterator[Fix]:
    """What the planner found to help where no published build runs; nothing where some does, or too little is known."""
    names = [name for name in FAMILY if name == "torch" or name in s.evidence.installed]
    machine = replace(s.machine, python=s.machine.python or s.facts.assumed_pythons[0])
    request = Request(requirements=tuple(map(Requirement, names)), target=_target(s))
    try:
        answer = make_plan(machine, request, s.rulebook)
    except InputError:
        return
    for remedy in answer.remedies if isinstance(answer, NoPlan) else ():
        if remedy.code in _OFFERED:
            yield Fix(text=remedy.text, commands=(remedy.command,) if remedy.command else ())


def driver_command(s: Situation) -> tuple[str, ...]:
    """The command that tells which driver to take and how; empty where there is nothing to advise on."""
    known = any(gpu.compute_capability for gpu in s.machine.gpus)
    if not known or not (s.driver.known or s.evidence.live):
        return ()
    machine = replace(s.machine, vendor="nvidia", python=s.machine.python or s.facts.assumed_pythons[0])
    if advice(machine, s.rulebook) is None:
        return ()
    target = _target(s)
    return (shlex.join(["envsolve", "driver", *(["--target", target] if target else [])]),)


def _target(s: Situation) -> str:
    """The machine of a report as a one-line spec; "" for this one."""
    return "" if s.evidence.live else format_spec(s.machine)
