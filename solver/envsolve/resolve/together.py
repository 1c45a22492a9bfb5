"""Together: where no single change gives a plan, the fewest that do when they are made at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of
from envsolve.judge.host import minor_of
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.resolve.driver_remedies import driver_limits
from envsolve.resolve.loosen import command, without_labels, without_pins
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.survey import survey
from envsolve.rulebook.rulebook import Rulebook

Maker = Callable[[Machine, Request, Rulebook], Iterator[Remedy]]


@record
class Change:
    """One change: what it is told as, the machine with it (and with those before it), what the command needs for it."""

    code: str
    text: str
    machine: Machine
    option: str = ""


Axis = Callable[[Machine, Rulebook], Iterator[Change]]


def together(machine: Machine, request: Request, rulebook: Rulebook, pins: Sequence[Maker]) -> Iterator[Remedy]:
    """Two or more changes at once, the fewest that are seen to help. `pins` make the remedies that change a pin."""
    axes = [*((_cards,) if request.gpus == "all" else ()), _systems, _pythons, _drivers]
    if not _far_enough(machine, _freed(request), rulebook, axes):
        return
    for count in range(1, len(axes) + 1):
        for some in itertools.combinations(axes, count):
            for makers in ((), pins) if count > 1 else (pins,):  # with the pins it is one change more
                if found := _found(machine, request, rulebook, some, makers):
                    yield from found
                    return


def _freed(request: Request) -> tuple[Request, ...]:
    """What is asked for without its pins; with and without its variant, for a CPU build asks less of a machine."""
    return tuple(dict.fromkeys((without_pins(without_labels(request)), without_pins(request))))


def _far_enough(machine: Machine, any_of: Sequence[Request], rulebook: Rulebook, axes: Sequence[Axis]) -> bool:
    """Whether these changes help at all, with the newest driver: not every branch need be tried in vain."""
    ends = list(_lines(machine, axes, rulebook, ends=True))
    return any(_runs(_last(machine, some), request, rulebook) for request in any_of for some in ends)


def _found(
    machine: Machine, request: Request, rulebook: Rulebook, axes: Sequence[Axis], pins: Sequence[Maker]
) -> list[Remedy]:
    """The remedies of the first changes along these axes that give a plan, with a change of the pins where asked."""
    if not _far_enough(machine, _freed(request) if pins else (request,), rulebook, axes):
        return []
    for changes in _lines(machine, axes, rulebook):
        changed = _last(machine, changes)
        if len(changes) < len(axes):
            continue  # fewer axes have been tried before
        if not pins and _runs(changed, request, rulebook):
            return _told(changes, None, request)
        if inner := next((r for make in pins for r in make(changed, request, rulebook)), None):
            return _told(changes, inner, request)
    return []


def _told(changes: Sequence[Change], inner: Remedy | None, request: Request) -> list[Remedy]:
    """A remedy for each change. A plan's command is given where it says them all, a driver's where it is the rest."""
    options = [change.option for change in changes if change.option]
    plan = " ".join([inner.command if inner else command(request), *options])
    outside = {change.code for change in changes if not change.option}
    every = [*([(inner.code, inner.text)] if inner else []), *((c.code, c.text) for c in changes)]
    remedies = []
    for place, (code, text) in enumerate(every):
        others = " and ".join(other for at, (_, other) in enumerate(every) if at != place)
        way = "" if outside else plan
        if outside == {code} and code != "newer-os":
            way = plan.replace("envsolve plan", "envsolve driver", 1)
        remedies.append(Remedy(code=code, text=f"{text}, together with {others}", command=way))
    return remedies


def _lines(
    machine: Machine, axes: Sequence[Axis], rulebook: Rulebook, *, ends: bool = False
) -> Iterator[tuple[Change, ...]]:
    """Each way to make one change of every axis, one after the other; an axis that has none is left out."""
    if not axes:
        yield ()
        return
    changes = tuple(axes[0](machine, rulebook))
    if not changes:
        yield from _lines(machine, axes[1:], rulebook, ends=ends)
    for change in changes[-1:] if ends and axes[0] is _drivers else changes:
        for rest in _lines(change.machine, axes[1:], rulebook, ends=ends):
            yield (change, *rest)


def _last(machine: Machine, changes: Sequence[Change]) -> Machine:
    return changes[-1].machine if changes else machine


def _runs(machine: Machine, request: Request, rulebook: Rulebook) -> bool:
    return bool(survey(machine, request, rulebook).running)


def _cards(machine: Machine, rulebook: Rulebook) -> Iterator[Change]:
    """Fewer kinds of cards, as many as can be."""
    kinds = list(dict.fromkeys((g.compute_capability, g.gfx) for g in machine.gpus))
    for count in range(len(kinds) - 1, 0, -1):
        for kept in itertools.combinations(kinds, count):
            places = [i for i, g in enumerate(machine.gpus) if (g.compute_capability, g.gfx) in kept]
            left = dict.fromkeys(g.name or "a GPU" for i, g in enumerate(machine.gpus) if i not in places)
            changed = replace(machine, gpus=tuple(machine.gpus[i] for i in places))
            kept_ones = ",".join(map(str, places))
            text = f"GPU {kept_ones} alone, without {', '.join(left)}"
            yield Change(code="drop-gpu", text=text, machine=changed, option=f"--gpus {kept_ones}")


def _systems(machine: Machine, rulebook: Rulebook) -> Iterator[Change]:
    if machine.libc is not None:
        yield Change(code="newer-os", text="a system with a newer glibc", machine=replace(machine, libc=None))


def _pythons(machine: Machine, rulebook: Rulebook) -> Iterator[Change]:
    """Every other Python that has wheels on this platform, newest first."""
    current = machine.python or ""
    for python in sorted({p for b in rulebook.builds_on(machine.platform) for p in b.python}, reverse=True):
        if python != minor_of(current) or current.endswith("t"):
            changed = replace(machine, python=python.text)
            option = f"--python {python.text}"
            yield Change(code="other-python", text=f"Python {python}", machine=changed, option=option)


def _drivers(machine: Machine, rulebook: Rulebook) -> Iterator[Change]:
    """The branches after this one that drive every card, or the last that does; a Tegra's comes with its JetPack."""
    current = driver_of(machine, rulebook).branch
    if vendor_of(machine) != "nvidia" or machine.tegra or current is None:
        return
    first, last = driver_limits(machine, rulebook)
    if last is not None and current > last:
        yield _driver("driver-downgrade", f"driver branch R{last}", last, machine, rulebook)
        return
    for branch in sorted(rulebook.branches):
        if branch > current and branch >= first and (last is None or branch <= last):
            yield _driver("driver-update", f"driver branch R{branch} or newer", branch, machine, rulebook)


def _driver(code: str, text: str, branch: int, machine: Machine, rulebook: Rulebook) -> Change:
    changed = replace(machine, driver=None, cuda_max=rulebook.branches[branch].cuda)
    return Change(code=code, text=text, machine=changed)
