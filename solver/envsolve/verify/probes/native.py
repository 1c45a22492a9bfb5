"""Kernels that torch itself compiled: run without the driver's JIT they prove which code the binary holds."""

from . import close
from .protocol import Context, Facts


def own_kernels(context: Context) -> Facts:
    """Elementwise, reduction and indexing kernels of torch's own; cuBLAS and cuDNN have arch lists of their own."""
    torch = context.torch
    x, picks = torch.randn(300, 200), torch.randperm(300)
    there = x.to(context.device)
    got = (there * 3 + 1).index_select(0, picks.to(context.device)).sum(1)
    want = (x.double() * 3 + 1).index_select(0, picks).sum(1)
    return {"errors": [close.relative("own kernels", got, want, 1e-4)]}
