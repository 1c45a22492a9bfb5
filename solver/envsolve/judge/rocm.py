"""ROCm: a wheel runs only on the gfx targets that it was compiled for; there is no PTX-like fallback."""

from __future__ import annotations

from envsolve.judge.fit import Refusal
from envsolve.machine.machine import Machine
from envsolve.rulebook.tables import Build


def rocm_refusal(build: Build, machine: Machine) -> Refusal | None:
    """Refused when a GPU's gfx target is known, the wheel's list is known, and it is not in it."""
    if build.accelerator != "rocm" or not build.gfx:
        return None
    lacking = sorted({g.gfx for g in machine.gpus if g.gfx is not None and g.gfx not in build.gfx})
    if not lacking:
        return None
    text = f"no kernels for {' '.join(lacking)} (has {' '.join(build.gfx)})"
    return Refusal(code="no-kernels", text=text, blames=("gpu",))
