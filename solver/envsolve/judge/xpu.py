"""XPU: which Intel GPUs PyTorch's xpu builds serve, by the lists of its documentation."""

from __future__ import annotations

from envsolve.dotted import Dotted
from envsolve.judge.fit import GpuFit, Refusal
from envsolve.machine.machine import Gpu, Machine
from envsolve.rulebook.other_names import xpu_product
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build


def xpu_fit(build: Build, gpu: Gpu, name: str, rulebook: Rulebook) -> tuple[GpuFit, Refusal | None]:
    """How one Intel GPU runs an xpu build: served or not; unknown where the rules don't know its name."""
    product = xpu_product(gpu.name, rulebook) if gpu.name is not None else None
    if product is None:
        return GpuFit(gpu=name, verdict="unknown", code=""), None
    minor = Dotted.parse(f"{build.torch.major}.{build.torch.minor}")
    if product.first is not None and product.first <= minor:
        return GpuFit(gpu=name, verdict="native", code="xpu"), None
    since = f"they serve it from torch {product.first} on" if product.first else "they serve no such GPU"
    refusal = Refusal(code="no-kernels", text=f"xpu builds and {name}: {since}", blames=("gpu",))
    return GpuFit(gpu=name, verdict="unsupported", code=""), refusal


def never_served(machine: Machine, rulebook: Rulebook) -> bool:
    """Whether all GPUs are Intel graphics that no xpu build serves: then the CPU build is not second best."""
    found = [xpu_product(gpu.name, rulebook) if gpu.name is not None else None for gpu in machine.gpus]
    return bool(found) and all(row is not None and row.first is None for row in found)
