"""Remedies: the ways out of a "no", cheapest first. Each is tried by solving with it before it is shown."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.host import minor_of
from envsolve.judge.judge import jit_proven
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.driver_remedies import DRIVER_CODES, driver_remedies
from envsolve.resolve.extension_rows import extensions_of
from envsolve.resolve.gpu_remedies import gpu_remedies
from envsolve.resolve.loosen import command, looser, torch_at, without_labels, without_pins
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import Survey, survey
from envsolve.resolve.wanted import Wanted, read_wanted
from envsolve.resolve.ways_out import outside_remedies
from envsolve.rulebook.rulebook import Rulebook


def remedies_for(machine: Machine, request: Request, rulebook: Rulebook, found: Survey) -> tuple[Remedy, ...]:
    """Every remedy that was solved with, in the order of their cost. `found` holds what was refused: a change of one
    input is tried only where that input alone stands in some build's way."""
    makers = [_pytorch_index, _other_variant, _relax_pin, _numpy, _without_extensions]
    if _alone(found, {"python-unsupported", "companion-mismatch"}):
        makers.append(_other_python)
    if _alone(found, DRIVER_CODES):
        makers.append(driver_remedies)
    makers.append(gpu_remedies)
    if _alone(found, {"glibc-too-old", "musl"}):
        makers.append(_libc)
    single = tuple(remedy for make in makers for remedy in make(machine, request, rulebook))
    if not single:
        from envsolve.resolve.together import together  # most requests have one way out that is enough

        single = tuple(together(machine, request, rulebook, (_other_variant, _relax_pin)))
    cpu = tuple(_cpu(machine, request, rulebook))
    if not (single or cpu):
        cpu = tuple(_some_cpu(machine, request, rulebook))
    return (*single, *outside_remedies(machine, request, rulebook), *cpu)


def _alone(found: Survey, codes: AbstractSet[str]) -> bool:
    return any(all(refusal.code in codes for refusal in row.refusals) for row in found.refused)


def solve(machine: Machine, request: Request, rulebook: Rulebook) -> Row | None:
    """The row that a request would get on a machine; None = none."""
    running = survey(machine, request, rulebook).running
    return running[0] if running else None


def _pytorch_index(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The PyTorch index in place of the plain wheels."""
    there = replace(request, source="pytorch")
    if request.source == "pypi" and (row := solve(machine, there, rulebook)):
        text = f"the PyTorch index has torch {row.packages[0].label(row.build.variant)}: leave out --source pypi"
        yield Remedy(code="other-variant", text=text, command=command(there))


def _other_variant(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if request.variant is None and not read_wanted(request).labels:
        return
    freed = without_labels(request)
    if (row := solve(machine, freed, rulebook)) and not _unproven(row, machine, rulebook):
        same = "the same version" if read_wanted(request).exact else "a build"
        text = f"{same} from {row.build.variant}: torch {row.packages[0].label(row.build.variant)}"
        yield Remedy(code="other-variant", text=text, command=command(freed))


def _unproven(row: Row, machine: Machine, rulebook: Rulebook) -> bool:
    """Whether a build runs by JIT at best, with libraries that are older than the card: nothing to recommend."""
    jitted = [gpu for gpu, fit in zip(machine.gpus, row.fit.gpus, strict=False) if fit.verdict == "jit"]
    known = [gpu.compute_capability for gpu in jitted if gpu.compute_capability is not None]
    return not all(jit_proven(row.build, capability, rulebook) for capability in known)


def _relax_pin(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The least of the pins that has to go."""
    wanted = read_wanted(request)
    if not wanted.texts:
        return
    for freed in looser(request):
        rows = survey(machine, freed, rulebook).running
        if rows:
            row = _nearest(rows, wanted.exact_torch or _upper_bound(wanted))
            told = " and ".join(f"{p.name} {p.version}" for p in row.packages if p.name in _named(wanted.texts))
            text = f"{told} ({row.build.variant}) in place of {' '.join(wanted.texts)}"
            kept = str(read_wanted(freed).specs["torch"]) == str(wanted.specs["torch"])
            near = freed if kept else torch_at(freed, str(row.build.torch))
            yield Remedy(code="relax-pin", text=text, command=command(near))
            return


def _named(texts: tuple[str, ...]) -> set[str]:
    """The packages that the user's words limit."""
    return {canonicalize_name(Requirement(text).name) for text in texts}


def _upper_bound(wanted: Wanted) -> str:
    """Who asks for torch<2.5 wants an old one: where it must be newer, then as little as possible."""
    bounds = [s.version for s in wanted.specs["torch"] if s.operator in ("<", "<=")]
    return min(bounds, key=Version, default="")


def _nearest(rows: tuple[Row, ...], pinned: str) -> Row:
    """The running row nearest to a version: the next newer torch, else the next older; without one the best."""
    try:
        wanted = Version(pinned)
    except InvalidVersion:
        return rows[0]
    certain = [r for r in rows if r.certain] or list(rows)
    newer = [r for r in certain if r.build.torch >= wanted]
    version = min(r.build.torch for r in newer) if newer else max(r.build.torch for r in certain)
    return next(r for r in certain if r.build.torch == version)


def _numpy(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    kept = tuple(r for r in request.requirements if canonicalize_name(r.name) != "numpy")
    if len(kept) == len(request.requirements):
        return
    changed = replace(request, requirements=(*kept, Requirement("numpy<2")))
    if row := solve(machine, changed, rulebook):
        text = f"numpy<2: torch {row.build.torch} was built for NumPy 1"
        yield Remedy(code="numpy-below-2", text=text, command=command(changed))


def _without_extensions(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The fewest of the libraries with CUDA code that have to go."""
    asked = extensions_of(request, read_wanted(request).others).requirements
    for count in range(1, len(asked) + 1):
        for dropped in itertools.combinations(asked, count):
            left = replace(request, requirements=tuple(r for r in request.requirements if r not in dropped))
            if row := solve(machine, left, rulebook):
                label = row.packages[0].label(row.build.variant)
                text = f"without {' and '.join(map(str, dropped))}: torch {label}"
                yield Remedy(code="relax-pin", text=text, command=command(left))
                return


def _other_python(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    current = machine.python or ""
    for python in sorted({p for b in rulebook.builds_on(machine.platform) for p in b.python}, reverse=True):
        if python == minor_of(current) and not current.endswith("t"):
            continue
        if row := solve(replace(machine, python=python.text), request, rulebook):
            text = f"Python {python} has torch {row.packages[0].label(row.build.variant)}"
            yield Remedy(code="other-python", text=text, command=command(request, "--python", python.text))
            return


def _libc(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if machine.libc is None:
        return
    row = solve(replace(machine, libc=None), request, rulebook)
    if row is None or row.build.glibc_min is None:
        return
    glibc = f"glibc {row.build.glibc_min} or newer"
    yield Remedy(
        code="newer-os", text=f"a system with {glibc}: torch {row.build.torch} ({row.build.variant}) runs there"
    )
    text = f"a container with {glibc} on this system: the same torch runs in it"
    in_image = command(request, program="container") if machine.os == "linux" else ""
    yield Remedy(code="container-image", text=text, command=in_image)


def _cpu(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    if request.variant == "cpu":
        return
    on_cpu = replace(without_labels(request), variant="cpu")
    row = solve(machine, on_cpu, rulebook)
    if row and not extensions_of(request, read_wanted(request).others).unverified(row.build, machine):
        text = f"torch {row.build.torch} on the CPU, without the GPU"
        yield Remedy(code="cpu-only", text=text, command=command(on_cpu))


def _some_cpu(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """A CPU build where nothing else is left for a GPU: of the nearest torch, with another Python, in a container."""
    if vendor_of(machine) not in ("nvidia", "amd", "intel") or request.variant == "cpu":
        return
    wanted = read_wanted(request)
    free = without_pins(replace(without_labels(request), variant="cpu"))
    if rows := survey(machine, free, rulebook).running:
        row = _nearest(rows, wanted.exact_torch or _upper_bound(wanted))
        text = f"torch {row.build.torch} on the CPU, without the GPU, in place of {' '.join(wanted.texts)}"
        yield Remedy(code="cpu-only", text=text, command=command(torch_at(free, str(row.build.torch))))
    elif found := next(_other_python(machine, free, rulebook), None):
        yield Remedy(code="cpu-only", text=f"on the CPU, without the GPU: {found.text}", command=found.command)
    elif machine.libc is not None and (other := solve(replace(machine, libc=None), free, rulebook)):
        glibc = other.build.glibc_min
        text = f"torch {other.build.torch} on the CPU, without the GPU, in a container with glibc {glibc}"
        yield Remedy(code="cpu-only", text=text)
