"""Kernels: which code target of a build serves a GPU, if any.

Source of the rules: NVIDIA's CUDA binary compatibility (cubins within a major, upwards by minor; PTX upwards by JIT;
`a` targets on exactly one chip, `f` targets within their family; integrated Tegra GPUs apart from the rest).
"""

from __future__ import annotations

from collections.abc import Iterable

from envsolve.capability import Capability, Target
from envsolve.rulebook.tables import Build


def cubin_runs(target: Target, gpu: Capability, tegra: frozenset[Capability]) -> bool:
    """Whether a cubin built for `target` runs on a GPU of this capability without JIT."""
    code = target.capability
    if target.suffix == "a" or (code in tegra) != (gpu in tegra):
        return code == gpu
    return code.major == gpu.major and code.minor <= gpu.minor


def ptx_runs(target: Target, gpu: Capability) -> bool:
    """Whether PTX for `target` can be compiled for a GPU of this capability by a new enough driver."""
    code = target.capability
    if target.suffix == "a":
        return code == gpu
    if target.suffix == "f":
        return code.major == gpu.major and code <= gpu
    return code <= gpu


def best_cubin(build: Build, gpu: Capability, tegra: frozenset[Capability]) -> Target | None:
    """The newest cubin of the build that runs on the GPU."""
    return _newest(t for t in build.sm if cubin_runs(t, gpu, tegra))


def best_ptx(build: Build, gpu: Capability) -> Target | None:
    """The newest PTX of the build that the GPU can take."""
    return _newest(t for t in build.ptx if ptx_runs(t, gpu))


def _newest(targets: Iterable[Target]) -> Target | None:
    return max(targets, key=lambda t: t.capability, default=None)
