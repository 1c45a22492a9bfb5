"""What networks are made of: convolution, attention, and one step of training."""

import math
from typing import Any

from . import close, matmul
from .protocol import Context, Facts, Skip, is_cuda


def conv2d(context: Context) -> Facts:
    """A strided, padded convolution (cuDNN on a GPU) against a float64 product of unfolded patches."""
    torch = context.torch
    if is_cuda(context.device) and not torch.backends.cudnn.is_available():
        raise RuntimeError("cuDNN can't be used: torch.backends.cudnn.is_available() is False")
    matmul.set_tf32(torch, False)
    x, weight, bias = torch.randn(4, 8, 33, 31), torch.randn(16, 8, 3, 3), torch.randn(16)
    where = context.device
    got = torch.nn.functional.conv2d(x.to(where), weight.to(where), bias.to(where), stride=2, padding=1)
    patches = torch.nn.functional.unfold(x.double(), 3, stride=2, padding=1)
    flat = torch.matmul(weight.double().view(16, -1), patches) + bias.double().view(1, 16, 1)
    return {"errors": [close.relative("conv2d fp32", got, flat.view(got.shape), 1e-5)]}


def attention(context: Context) -> Facts:
    """scaled_dot_product_attention, plain and causal, in fp32 and on GPUs in fp16 (the flash kernels)."""
    torch = context.torch
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        raise Skip("scaled_dot_product_attention starts with torch 2.0")
    matmul.set_tf32(torch, False)
    # The memory-efficient kernels of some GPUs compute fp32 on tensor cores, whatever set_tf32 says.
    errors = [attend(context, torch.float32, "fp32", False, 2e-3 if is_cuda(context.device) else 1e-5)]
    if is_cuda(context.device):
        errors.append(attend(context, torch.float16, "fp16", False, 5e-3))
        errors.append(attend(context, torch.float16, "fp16 causal", True, 5e-3))
    else:
        errors.append(attend(context, torch.float32, "fp32 causal", True, 1e-5))
    return {"errors": errors}


def attend(context: Context, dtype: Any, what: str, causal: bool, tolerance: float) -> Facts:
    torch = context.torch
    q, k, v = [torch.randn(2, 4, 128, 64).to(dtype) for _ in range(3)]
    where = context.device
    got = torch.nn.functional.scaled_dot_product_attention(q.to(where), k.to(where), v.to(where), is_causal=causal)
    scores = torch.matmul(q.double(), k.double().transpose(-2, -1)) / math.sqrt(64)
    if causal:
        later = torch.ones(128, 128).triu(1).bool()
        scores = scores.masked_fill(later, float("-inf"))
    return close.relative(what, got, torch.matmul(torch.softmax(scores, -1), v.double()), tolerance)


def autograd(context: Context) -> Facts:
    """One SGD step of a small regression; its gradients are worked out by hand in float64."""
    torch = context.torch
    matmul.set_tf32(torch, False)
    x, y, start = torch.randn(64, 32), torch.randn(64, 8), torch.randn(32, 8)
    weight = start.clone().to(context.device).requires_grad_()
    loss = ((torch.matmul(x.to(context.device), weight).tanh() - y.to(context.device)) ** 2).mean()
    loss.backward()
    with torch.no_grad():  # by hand: importing torch.optim takes as long as torch itself
        stepped = weight - 0.1 * weight.grad
    out = torch.matmul(x.double(), start.double()).tanh()
    slope = torch.matmul(x.double().t(), 2 * (out - y.double()) / out.numel() * (1 - out * out))
    return {
        "errors": [
            close.relative("gradient", weight.grad, slope, 1e-5),
            close.relative("stepped weights", stepped, start.double() - 0.1 * slope, 1e-5),
        ]
    }
