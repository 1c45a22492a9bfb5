"""The planner: a machine and a request in; a plan, a reasoned no, or a question out. No network, no clock."""

from __future__ import annotations

from dataclasses import replace

from envsolve.addresses import PYTORCH_INDEX
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.fit import Note
from envsolve.machine.machine import Machine
from envsolve.resolve.companions import Excluded
from envsolve.resolve.gpu_choice import chosen
from envsolve.resolve.notes import notes_for
from envsolve.resolve.numpy_rule import numpy_cap
from envsolve.resolve.plan import Answer, Missing, NeedsInput, NoPlan, Plan, Refused
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.scenarios import Known, know, scenarios
from envsolve.resolve.survey import Survey, survey
from envsolve.resolve.wanted import read_wanted
from envsolve.rulebook.rulebook import Rulebook

MOST_SCENARIOS = 400  # beyond that the unknown facts are asked for without trying each


def plan(machine: Machine, request: Request, rulebook: Rulebook, *, excluded: Excluded = frozenset()) -> Answer:
    """Choose the build for a machine.

    `excluded` names files that an index was seen not to have, as (package, public version, variant).
    Raises InputError for requirements or GPU indexes that make no sense.
    """
    if machine.python is None:
        missing = Missing(field="python", how="give --python, for example --python 3.12")
        return NeedsInput(machine=machine, request=request, missing=(missing,))
    known = know(machine, rulebook)
    if not known.missing or _gpu_does_not_matter(request):
        return answer(chosen(known.machine, request), request, rulebook, excluded)
    return _answer_for_all(known, request, rulebook, excluded)


def answer(machine: Machine, request: Request, rulebook: Rulebook, excluded: Excluded) -> Plan | NoPlan:
    """The answer for a machine whose chosen GPUs are known."""
    found = survey(machine, request, rulebook, excluded=excluded)
    if found.running:
        return _plan(machine, request, rulebook, found)
    from envsolve.resolve.no_plan import no_plan  # a plain plan starts quicker without it

    return no_plan(machine, request, rulebook, found, excluded)


def _plan(machine: Machine, request: Request, rulebook: Rulebook, found: Survey) -> Plan:
    best = found.running[0]
    others = read_wanted(request).others
    cap = numpy_cap(best.build, rulebook)
    return Plan(
        machine=machine,
        request=request,
        build=best.build,
        index_url=index_url(best, request, rulebook),
        python=machine.python or "",
        packages=best.packages,
        others=(*others, cap) if cap is not None else others,
        unresolved=tuple(r.name for r in others if r.name.lower() != "numpy"),
        fits=best.fit.gpus,
        notes=notes_for(machine, request, best, found, rulebook),
        refused=tuple(_better(found, best)),
        alternatives=found.running[1:],
    )


def _better(found: Survey, best: Row) -> list[Refused]:
    """All refused rows, newest torch first: the reader's question is why not a newer one."""
    rows = sorted(found.refused, key=lambda r: r.rank[1:], reverse=True)
    return [Refused(torch=r.build.torch, variant=r.build.variant, refusals=r.refusals) for r in rows]


def index_url(row: Row, request: Request, rulebook: Rulebook) -> str:
    """The address of the row's index folder; empty for the default Python index."""
    if request.source == "pypi":
        return ""
    base = request.mirror.rstrip("/") or PYTORCH_INDEX
    return f"{base}/{row.build.folder}"


def _gpu_does_not_matter(request: Request) -> bool:
    """A CPU build was asked for: neither GPU nor driver decides anything."""
    if request.variant is not None:
        return request.variant == "cpu"
    labels = read_wanted(request).labels
    return bool(labels) and all(label.startswith("cpu") for label in labels)


def _answer_for_all(known: Known, request: Request, rulebook: Rulebook, excluded: Excluded) -> Answer:
    """Try every machine that it may be; one common answer is the answer, else the missing facts are asked for."""
    if vendor_of(known.machine) is None:
        return NeedsInput(machine=known.machine, request=request, missing=known.missing)
    answers: list[Plan | NoPlan] = []
    for machine in scenarios(known, rulebook):
        if len(answers) == MOST_SCENARIOS:
            break
        answers.append(answer_quickly(chosen(machine, request), request, rulebook, excluded))
    plans = [a for a in answers if isinstance(a, Plan)]
    if len(answers) < MOST_SCENARIOS and answers:
        if not plans:
            return answer(chosen(answers[0].machine, request), request, rulebook, excluded)
        if len(plans) == len(answers) and len({(p.build.torch, p.variant, p.packages) for p in plans}) == 1:
            fields = " and ".join(dict.fromkeys(m.field for m in known.missing))
            note = Note(code="unknown-input", text=f"{fields}: not known, but every possible value gives this plan")
            return replace(plans[0], notes=(note, *plans[0].notes))
    return NeedsInput(machine=known.machine, request=request, missing=known.missing)


def answer_quickly(machine: Machine, request: Request, rulebook: Rulebook, excluded: Excluded) -> Plan | NoPlan:
    """Like `answer`, without explanation and remedies for a no: for trying many machines."""
    found = survey(machine, request, rulebook, excluded=excluded)
    if found.running:
        return _plan(machine, request, rulebook, found)
    return NoPlan(machine=machine, request=request, guilty="", refused=(), remedies=())
