"""Remedies: the ways out of a "no", cheapest first. Each is tried by solving with it before it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.dotted import Dotted
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import branch_limits, driver_of
from envsolve.machine.machine import Machine
from envsolve.resolve.gpu_groups import best_subset, separate
from envsolve.resolve.loosen import command, torch_at, without_labels, without_pins
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import survey
from envsolve.resolve.wanted import read_wanted
from envsolve.resolve.ways_out import outside_remedies
from envsolve.rulebook.rulebook import Rulebook


def remedies_for(machine: Machine, request: Request, rulebook: Rulebook) -> tuple[Remedy, ...]:
    """Every remedy that was solved with, in the order of their cost."""
    makers = (_other_variant, _relax_pin, _numpy, _other_python, _driver, _fewer_gpus, _libc, outside_remedies, _cpu)
    return tuple(remedy for make in makers for remedy in make(machine, request, rulebook))


def solve(machine: Machine, request: Request, rulebook: Rulebook) -> Row | None:
    """The row that a request would get on a machine; None = none."""
    running = survey(machine, request, rulebook).running
    return running[0] if running else None


def _other_variant(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if request.variant is None and not read_wanted(request).labels:
        return
    freed = without_labels(request)
    if row := solve(machine, freed, rulebook):
        text = f"the same version from {row.build.variant}: torch {row.packages[0].label(row.build.variant)}"
        yield Remedy(code="other-variant", text=text, command=command(freed))


def _relax_pin(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    wanted = read_wanted(request)
    if not wanted.texts:
        return
    for freed in (without_pins(request), without_pins(without_labels(request))):
        rows = survey(machine, freed, rulebook).running
        if rows:
            row = _nearest(rows, request)
            near = torch_at(freed, str(row.build.torch))
            text = f"torch {row.build.torch} ({row.build.variant}) in place of {' '.join(wanted.texts)}"
            yield Remedy(code="relax-pin", text=text, command=command(near))
            return


def _nearest(rows: tuple[Row, ...], request: Request) -> Row:
    """The running row nearest to an exact pin: the next newer torch, else the next older; without one the best."""
    pins = [s.version for s in read_wanted(request).specs["torch"] if s.operator == "=="]
    pins = [p.removesuffix(".*").split("+")[0] for p in pins]
    if not pins:
        return rows[0]
    pinned = Version(pins[0])
    certain = [r for r in rows if r.certain] or list(rows)
    newer = [r for r in certain if r.build.torch >= pinned]
    version = min(r.build.torch for r in newer) if newer else max(r.build.torch for r in certain)
    return next(r for r in certain if r.build.torch == version)


def _numpy(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    kept = tuple(r for r in request.requirements if r.name.lower() != "numpy")
    if len(kept) == len(request.requirements):
        return
    changed = replace(request, requirements=(*kept, Requirement("numpy<2")))
    if row := solve(machine, changed, rulebook):
        text = f"numpy<2: torch {row.build.torch} was built for NumPy 1"
        yield Remedy(code="numpy-below-2", text=text, command=command(changed))


def _other_python(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    current = machine.python or ""
    for python in reversed(_pythons(rulebook, machine)):
        if python.text == current:
            continue
        if row := solve(replace(machine, python=python.text), request, rulebook):
            text = f"Python {python} has torch {row.packages[0].label(row.build.variant)}"
            yield Remedy(code="other-python", text=text, command=command(request, "--python", python.text))
            return


def _pythons(rulebook: Rulebook, machine: Machine) -> list[Dotted]:
    """Every CPython minor that some build on this platform has wheels for, oldest first."""
    return sorted({p for b in rulebook.builds_on(machine.platform) for p in b.python})


def _driver(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if vendor_of(machine) != "nvidia":
        return
    current = driver_of(machine, rulebook).branch
    if current is None:
        return
    limits = [branch_limits(g.compute_capability, rulebook) for g in machine.gpus if g.compute_capability]
    last = min((last for _, last in limits if last is not None), default=None)
    if last is not None and current > last:
        yield from _downgrade(machine, request, rulebook, last)
        return
    for branch in sorted(rulebook.branches):
        if branch <= current or (last is not None and branch > last):
            continue
        if row := solve(_with_branch(machine, branch, rulebook), request, rulebook):
            limit = f", but not past R{last}, the last for this card" if last is not None else ""
            text = f"driver branch R{branch} or newer{limit}: then torch {row.build.torch} ({row.build.variant}) runs"
            yield Remedy(code="driver-update", text=text)
            return


def _downgrade(machine: Machine, request: Request, rulebook: Rulebook, last: int) -> Iterator[Remedy]:
    if row := solve(_with_branch(machine, last, rulebook), request, rulebook):
        text = f"go back to driver branch R{last}, the last that drives this card: torch {row.build.torch} runs there"
        yield Remedy(code="driver-downgrade", text=text)


def _with_branch(machine: Machine, branch: int, rulebook: Rulebook) -> Machine:
    return replace(machine, driver=None, cuda_max=rulebook.branches[branch].cuda)


def _fewer_gpus(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if len(machine.gpus) < 2:
        return

    def solves(part: Machine) -> Row | None:
        return solve(part, request, rulebook)

    if best := best_subset(machine, solves):
        indexes, row = best
        lost = ", ".join(g.name or "GPU" for i, g in enumerate(machine.gpus) if i not in indexes)
        chosen = ",".join(str(i) for i in indexes)
        text = f"GPU {chosen} with torch {row.build.torch} ({row.build.variant}), without {lost}"
        yield Remedy(code="drop-gpu", text=text, command=command(request, "--gpus", chosen))
    groups = separate(machine, solves)
    if len(groups) > 1:
        parts = [f"GPU {','.join(map(str, ids))}: torch {r.build.torch} ({r.build.variant})" for ids, r in groups]
        commands = [command(request, "--gpus", ",".join(map(str, ids))) for ids, _ in groups]
        text = f"{len(groups)} environments, one for each group of cards: {'; '.join(parts)}"
        yield Remedy(code="separate-environments", text=text, command="\n".join(commands))


def _libc(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if machine.libc is None:
        return
    row = solve(replace(machine, libc=None), request, rulebook)
    if row is None or row.build.glibc_min is None:
        return
    text = (
        f"a system with glibc {row.build.glibc_min} or newer: torch {row.build.torch} ({row.build.variant}) runs there"
    )
    yield Remedy(code="newer-os", text=text)
    yield Remedy(code="container-image", text=f"a container with glibc {row.build.glibc_min} or newer on this system")


def _cpu(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    on_cpu = replace(without_labels(request), variant="cpu")
    if request.variant == "cpu":
        return
    if row := solve(machine, on_cpu, rulebook):
        yield Remedy(
            code="cpu-only", text=f"torch {row.build.torch} on the CPU, without the GPU", command=command(on_cpu)
        )
