"""Reductions, sorting, indexing, FFT, a linear solve, and copies between host and device."""

import importlib
import math
import random
from typing import Any

from . import close, matmul
from .protocol import Context, Facts, Skip, is_cuda


def reduction(context: Context) -> Facts:
    """Sum, mean and maximum along both axes."""
    torch = context.torch
    x = torch.randn(257, 1025)
    there, wide = x.to(context.device), x.double()
    rows = [max(row) for row in x.tolist()]
    return {
        "errors": [
            close.relative("sum", there.sum(0), wide.sum(0), 1e-5),
            close.relative("mean", there.mean(1), wide.mean(1), 1e-5),
            close.exact("maximum", there.max(1)[0].tolist(), rows),
        ]
    }


def sort(context: Context) -> Facts:
    """Sort and top-k against Python's own sort."""
    x = context.torch.randn(5000)
    numbers = x.tolist()
    values, order = context.torch.sort(x.to(context.device))
    top = context.torch.topk(x.to(context.device), 17)[0]
    want = sorted(numbers)
    return {
        "errors": [
            close.exact("sorted values", values.tolist(), want),
            close.exact("order", [numbers[i] for i in order.tolist()], want),
            close.exact("top 17", top.tolist(), want[::-1][:17]),
        ]
    }


def indexing(context: Context) -> Facts:
    """Gather, boolean mask and index_add on integers, which must be exact."""
    torch = context.torch
    x = torch.randint(-1000, 1000, (300,))
    numbers = x.tolist()
    picks = [random.randrange(300) for _ in range(2000)]
    there, index = x.to(context.device), torch.tensor(picks).to(context.device)
    sums = [0] * 300
    for n in picks:
        sums[n] += numbers[n]
    added = torch.zeros(300, dtype=torch.int64).to(context.device).index_add_(0, index, there[index])
    return {
        "errors": [
            close.exact("gathered", there[index].tolist(), [numbers[n] for n in picks]),
            close.exact("masked", there[there > 0].tolist(), [n for n in numbers if n > 0]),
            close.exact("index_add", added.tolist(), sums),
        ]
    }


def fft(context: Context) -> Facts:
    """A real FFT and its inverse against an explicit Fourier matrix."""
    torch = context.torch
    try:
        module = importlib.import_module("torch.fft")
    except ImportError:
        raise Skip("this torch has no torch.fft") from None
    x = torch.randn(6, 240)
    try:
        got = module.rfft(x.to(context.device))
        back = module.irfft(got, n=240)
    except RuntimeError as error:
        if "MKL" in str(error) or "not implemented" in str(error):
            raise Skip(str(error).splitlines()[0]) from None
        raise
    pairs = torch.view_as_real(got)
    cosine, sine = fourier(torch, 240)
    return {
        "errors": [
            close.relative("real part", pairs[..., 0], torch.matmul(x.double(), cosine), 1e-5),
            close.relative("imaginary part", pairs[..., 1], torch.matmul(x.double(), sine), 1e-5),
            close.relative("inverse", back, x.double(), 1e-5),
        ]
    }


def fourier(torch: Any, size: int) -> Any:
    """The real and imaginary parts of the Fourier matrix, size x (size/2 + 1), in float64."""
    turns = torch.arange(size).double().view(-1, 1) * torch.arange(size // 2 + 1).double().view(1, -1)
    angle = 2 * math.pi / size * turns
    return torch.cos(angle), -torch.sin(angle)


def solve(context: Context) -> Facts:
    """A linear system; the answer is put back into it in float64."""
    torch = context.torch
    if not hasattr(getattr(torch, "linalg", None), "solve"):
        raise Skip("torch.linalg.solve starts with torch 1.8")
    matmul.set_tf32(torch, False)
    a = torch.randn(128, 128) + 30 * torch.eye(128)
    b = torch.randn(128, 5)
    try:
        x = torch.linalg.solve(a.to(context.device), b.to(context.device))
    except RuntimeError as error:
        if "LAPACK" in str(error) or "not implemented" in str(error):
            raise Skip(str(error).splitlines()[0]) from None
        raise
    return {"errors": [close.relative("a @ solution", torch.matmul(a.double(), close.host(x)), b.double(), 1e-4)]}


def copies(context: Context) -> Facts:
    """Pinned memory to the device and back, asynchronously; every bit must survive."""
    torch = context.torch
    if not is_cuda(context.device):
        raise Skip("pinned copies are made on CUDA devices")
    x = torch.randint(-(2**31), 2**31 - 1, (1 << 20,), dtype=torch.int32)
    there = x.pin_memory().to(context.device, non_blocking=True)
    back = torch.empty(x.shape, dtype=x.dtype).pin_memory()
    back.copy_(there, non_blocking=True)
    torch.cuda.synchronize(context.device)
    return {"errors": [{"what": "copied integers", "error": int((back != x).sum().item()), "tolerance": 0}]}
