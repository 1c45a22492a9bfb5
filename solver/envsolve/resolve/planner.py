"""The planner: a machine and a request in; a plan, a reasoned no, or a question out. No network, no clock."""

from __future__ import annotations

from envsolve.addresses import PYTORCH_INDEX
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.fit import Note
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.companions import Excluded
from envsolve.resolve.extension_rows import extensions_of
from envsolve.resolve.gpu_choice import chosen
from envsolve.resolve.known import Known
from envsolve.resolve.notes import notes_for
from envsolve.resolve.numpy_rule import numpy_cap
from envsolve.resolve.plan import Answer, Missing, NeedsInput, NoPlan, Plan
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.scenarios import know, scenarios
from envsolve.resolve.survey import Survey, newest_first, survey
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
    request = applying(machine, request)
    known = know(machine, rulebook)
    if not known.missing or _unknown_does_not_matter(known, request):
        return answer(chosen(known.machine, request), request, rulebook, excluded)
    return _answer_for_all(known, request, rulebook, excluded)


def applying(machine: Machine, request: Request) -> Request:
    """The request without the requirements and constraints whose markers don't hold on the machine."""
    if not any(r.marker is not None for r in (*request.requirements, *request.constraints)):
        return request
    from envsolve.resolve.target_env import target_env  # few requests have markers

    env = target_env(machine, machine.python or "")
    return replace(
        request,
        requirements=tuple(r for r in request.requirements if env.holds(r.marker)),
        constraints=tuple(r for r in request.constraints if env.holds(r.marker)),
    )


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
    extensions = extensions_of(request, others)
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
        refused=newest_first(found.refused),
        alternatives=found.running[1:],
        wheels=extensions.wheels(best.build, machine),
        pages=extensions.pages(best.build, machine),
    )


def index_url(row: Row, request: Request, rulebook: Rulebook) -> str:
    """The address of the row's index folder; empty for the default Python index."""
    if request.source == "pypi":
        return ""
    base = request.mirror.rstrip("/") or PYTORCH_INDEX
    return f"{base}/{row.build.folder}"


def _unknown_does_not_matter(known: Known, request: Request) -> bool:
    """A CPU build was asked for, so that neither GPU nor driver decides anything; or xpu for an Intel GPU."""
    wanted = read_wanted(request)
    asked = {request.variant} if request.variant is not None else set(wanted.labels)
    kinds = {"cpu", "xpu"} if vendor_of(known.machine) == "intel" else {"cpu"}
    return bool(asked) and all(variant.split(".")[0] in kinds for variant in asked)


def _answer_for_all(known: Known, request: Request, rulebook: Rulebook, excluded: Excluded) -> Answer:
    """Try every machine that it may be; one common answer is the answer, else the missing facts are asked for."""
    question = NeedsInput(machine=known.machine, request=request, missing=known.missing)
    if not known.choices:
        return question
    first: Plan | NoPlan | None = None
    for count, machine in enumerate(scenarios(known, rulebook)):
        found = answer_quickly(chosen(machine, request), request, rulebook, excluded)
        first = first or found
        if count == MOST_SCENARIOS or _what(found) != _what(first):
            return question
    if first is None:
        return question
    if isinstance(first, NoPlan):
        return _no_for_all(known, request, rulebook, excluded)
    fields = " and ".join(dict.fromkeys(m.field for m in known.missing))
    note = Note(code="unknown-input", text=f"{fields}: not known, but every possible value gives this plan")
    return replace(first, notes=(note, *first.notes))


def _what(found: Plan | NoPlan) -> object:
    return (found.build.torch, found.variant, found.packages) if isinstance(found, Plan) else None


def _no_for_all(known: Known, request: Request, rulebook: Rulebook, excluded: Excluded) -> Answer:
    """The "no" of a machine that has it whatever the unknown facts are: told without them if that is enough."""
    found = answer(chosen(known.machine, request), request, rulebook, excluded)
    if isinstance(found, NoPlan):
        return found
    machines = tuple(scenarios(known, rulebook))
    # Of unknown Tegra boards most have no public wheels at all; any other machine is told as its newest kind.
    told = machines[0] if known.machine.tegra else machines[-1]
    found = answer(chosen(told, request), request, rulebook, excluded)
    if isinstance(found, Plan):
        return found
    fields = " and ".join(dict.fromkeys(m.field for m in known.missing))
    note = Note(code="unknown-input", text=f"{fields}: not known, but no possible value has a plan; one is told")
    # What else speaks against a build may do so on that one machine alone.
    refused = tuple(replace(row, refusals=row.refusals[:1]) for row in found.refused)
    return replace(found, refused=refused, notes=(note, *found.notes))


def answer_quickly(machine: Machine, request: Request, rulebook: Rulebook, excluded: Excluded) -> Plan | NoPlan:
    """Like `answer`, without explanation and remedies for a no: for trying many machines."""
    found = survey(machine, request, rulebook, excluded=excluded)
    if found.running:
        return _plan(machine, request, rulebook, found)
    return NoPlan(machine=machine, request=request, guilty="", refused=(), remedies=())
