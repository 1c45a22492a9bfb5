"""Fit: what the judge says of one build on one machine."""

from __future__ import annotations

from typing import Literal

from envsolve.record import record
from envsolve.rulebook.tables import Build

Verdict = Literal["native", "compatible", "jit", "unsupported", "unknown"]
# An input of the user that a refusal blames; a plan that fails names the smallest set of inputs that can't go together.
Blame = Literal["gpu", "driver", "python", "libc", "platform", "pin", "accelerator", "companion", "extension", "index"]


@record
class Refusal:
    """Why a build does not run: a code of the contract, the numbers that decide, and the inputs that clash."""

    code: str
    text: str
    blames: tuple[Blame, ...]


@record
class Note:
    """Something to know about a plan that works."""

    code: str
    text: str


@record
class GpuFit:
    """How one GPU runs a build: the verdict and the target that serves it ("sm_86", "compute_90", "" if none)."""

    gpu: str
    verdict: Verdict
    code: str


@record
class Fit:
    """A build judged on a machine: it runs when nothing refuses it. Every true refusal is kept, the decisive first."""

    build: Build
    gpus: tuple[GpuFit, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[Note, ...] = ()
    within_driver_cuda: bool = True

    @property
    def runs(self) -> bool:
        return not self.refusals
