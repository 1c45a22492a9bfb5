"""Guilty: the smallest set of inputs that can't go together."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.fit import Blame
from envsolve.machine.machine import Gpu, Machine
from envsolve.resolve.extension_rows import extensions_of
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.wanted import read_wanted

# What a user changes most easily comes last: with equal size the set that names the machine's hard facts wins.
_INPUTS: tuple[Blame, ...] = (
    "gpu",
    "driver",
    "libc",
    "platform",
    "accelerator",
    "python",
    "pin",
    "companion",
    "extension",
    "index",
)


def guilty(machine: Machine, request: Request, rows: Sequence[Row]) -> str:
    """One sentence that names the inputs which together rule out every row. `rows` are all refused, pins included;
    `machine` has the fewest of the cards that clash."""
    inputs = smallest_clash(rows)
    if not rows or not inputs:
        return f"PyTorch publishes nothing for {_platform(machine)} that this request allows"
    if inputs == ("accelerator",):
        where = f"plain wheel of the Python index for {_platform(machine)}"
        kind = where if request.source == "pypi" else f"build for {_platform(machine)}"
        return f"no {kind} is made for {_accelerator(machine)}"
    spoken = [_spoken(i, machine, request) for i in inputs]
    if inputs == ("gpu",) and " + " in spoken[0]:
        return f"no build serves these cards together: {spoken[0]}"
    if inputs == ("pin",):
        return f"nothing answers {spoken[0]}"
    if len(spoken) == 1:
        return f"{spoken[0]} alone rules out every build"
    return f"these can't go together: {', '.join(spoken)}"


def smallest_clash(rows: Sequence[Row]) -> tuple[Blame, ...]:
    """The smallest set of inputs such that every row has a refusal caused by inputs of the set alone."""
    causes = [{frozenset(r.blames) for r in row.refusals} for row in rows]
    for size in range(1, len(_INPUTS) + 1):
        for inputs in itertools.combinations(_INPUTS, size):
            kept = frozenset(inputs)
            if all(any(blames <= kept for blames in row) for row in causes):
                return inputs
    return ()


def _spoken(blame: Blame, machine: Machine, request: Request) -> str:
    if blame == "gpu":
        return " + ".join(dict.fromkeys(map(_card, machine.gpus)))
    if blame == "driver":
        return f"driver {machine.driver}" if machine.driver else f"the driver's CUDA {machine.cuda_max}"
    if blame == "python":
        return f"Python {machine.python}"
    if blame == "libc":
        libc = machine.libc
        return f"{libc.name} {libc.version or ''}".strip() if libc else "the C library"
    if blame == "platform":
        return _platform(machine)
    if blame == "accelerator":
        return _accelerator(machine)
    return _asked(blame, request)


def _card(gpu: Gpu) -> str:
    """Intel's cards have neither a capability nor a gfx target."""
    kind = gpu.compute_capability or gpu.gfx
    return f"{gpu.name or 'GPU'} ({kind})" if kind else gpu.name or "GPU"


def _asked(blame: Blame, request: Request) -> str:
    wanted = read_wanted(request)
    if blame == "companion":
        return " and ".join(wanted.companions) or "the asked companions"
    if blame == "index":
        return "what the index has"
    if blame == "extension":
        return " and ".join(map(str, extensions_of(request, wanted.others).requirements))
    texts = list(wanted.texts)
    if request.variant:
        texts.append(f"--variant {request.variant}")
    texts += [str(r) for r in wanted.others if r.name.lower() == "numpy"]
    return " with ".join(texts) or "the requirements"


def _accelerator(machine: Machine) -> str:
    vendor = vendor_of(machine)
    spoken = {"nvidia": "an NVIDIA GPU", "amd": "an AMD GPU", "intel": "an Intel GPU", "apple": "an Apple GPU"}
    return spoken.get(vendor or "", "a machine without a GPU" if vendor == "none" else "a GPU that is not known")


def _platform(machine: Machine) -> str:
    return machine.platform.replace("_", " ", 1)
