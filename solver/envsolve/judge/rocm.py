"""ROCm: a wheel runs only on the gfx targets that it was compiled for; there is no PTX-like fallback."""

from __future__ import annotations

from envsolve.dotted import Dotted
from envsolve.judge.fit import GpuFit, Refusal
from envsolve.machine.machine import Gpu, Machine
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build


def rocm_fit(build: Build, gpu: Gpu, name: str, rulebook: Rulebook) -> tuple[GpuFit, Refusal | None]:
    """How one AMD GPU runs a ROCm build: native or not at all; unknown while its target or the wheel's list is."""
    if gpu.gfx is None:
        return GpuFit(gpu=name, verdict="unknown", code=""), None
    fault = _unusable(build, gpu.gfx, rulebook)
    if fault is None and not build.targets_known:
        return GpuFit(gpu=name, verdict="unknown", code=""), None
    if fault is None and gpu.gfx in build.gfx:
        return GpuFit(gpu=name, verdict="native", code=gpu.gfx), None
    text = fault or f"no kernels for {gpu.gfx} (has {' '.join(build.gfx)})"
    refusal = Refusal(code="no-kernels", text=text, blames=("gpu",))
    return GpuFit(gpu=name, verdict="unsupported", code=""), refusal


def rocm_refusal(build: Build, machine: Machine) -> Refusal | None:
    """Refused when a GPU's gfx target is known, the wheel's list is known, and it is not in it."""
    if build.accelerator != "rocm" or not build.gfx:
        return None
    lacking = sorted({g.gfx for g in machine.gpus if g.gfx is not None and g.gfx not in build.gfx})
    text = f"no kernels for {' '.join(lacking)} (has {' '.join(build.gfx)})"
    return Refusal(code="no-kernels", text=text, blames=("gpu",)) if lacking else None


def _unusable(build: Build, gfx: str, rulebook: Rulebook) -> str | None:
    """Why a target fails though the wheel's list may name it."""
    rocm = Dotted.parse(build.variant.removeprefix("rocm"))
    for row in rulebook.gfx_unusable:
        if row.gfx == gfx and row.first <= rocm and (row.last is None or rocm <= row.last):
            return f"{gfx} fails there: {row.fact}"
    return None
