"""torch.compile of a small function, where Triton and a C compiler are there."""

import importlib
import os
import shutil
import sys
from typing import Any

from . import close
from .matmul import capability
from .protocol import Context, Facts, Skip, is_cuda, release


def compiled(context: Context) -> Facts:
    """A fused elementwise and reduction kernel against float64."""
    torch = context.torch
    why_not = missing(context)
    if why_not:
        raise Skip(why_not)

    def small(x: Any, y: Any) -> Any:
        return (torch.sin(x) * y + 1).sum(-1)

    x, y = torch.randn(64, 512), torch.randn(64, 512)
    got = torch.compile(small)(x.to(context.device), y.to(context.device))
    return {"errors": [close.relative("compiled", got, small(x.double(), y.double()), 1e-4)]}


def missing(context: Context) -> str:
    """What torch.compile lacks here ("" = nothing)."""
    if release(context.torch) < (2, 0):
        return "torch.compile starts with torch 2.0"
    if not is_cuda(context.device):
        return "torch.compile is tried on GPUs"
    found = capability(context)
    if found is not None and found < (7, 0):
        return "Triton starts with compute capability 7.0"
    try:
        importlib.import_module("triton")
    except ImportError as error:
        return f"Triton is not there: {error}"
    if sys.platform != "win32" and not any(shutil.which(c) for c in (os.environ.get("CC") or "cc", "gcc", "clang")):
        return "there is no C compiler, which Triton needs"
    return ""
