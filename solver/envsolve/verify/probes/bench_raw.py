"""The bare speed of a device: the first kernel, matrix products, copies."""

import time
from typing import Any

from .matmul import capability, set_tf32
from .protocol import Context, Facts, Skip, is_cuda, release, synchronize
from .timing import rate


def first_kernel(context: Context) -> Facts:
    """From a process that has imported torch to the first result: context, libraries, and JIT where it is needed."""
    torch = context.torch
    began = time.perf_counter()
    total = (torch.ones(1024).to(context.device) * 2 + 1).sum().item()
    synchronize(torch, context.device)
    seconds = time.perf_counter() - began
    assert total == 3 * 1024
    return {"rows": [{"name": "first kernel", "unit": "ms", "values": [1000 * seconds]}]}


def product(context: Context, dtype: Any, name: str) -> Facts:
    """A square matrix product of random numbers: zeros would draw less power and run faster."""
    torch, size = context.torch, context.options["size"]
    a, b = [torch.randn(size, size).to(context.device).to(dtype) for _ in range(2)]
    out = torch.empty(size, size, dtype=dtype, device=context.device)
    row = rate(context, "matmul " + name, "TFLOP/s", 2 * size**3 / 1e12, lambda: torch.mm(a, b, out=out))
    return {"rows": [row]}


def fp32(context: Context) -> Facts:
    set_tf32(context.torch, False)
    return product(context, context.torch.float32, "fp32")


def tf32(context: Context) -> Facts:
    found = capability(context)
    if found is None or found < (8, 0):
        raise Skip("TF32 starts with compute capability 8.0")
    set_tf32(context.torch, True)
    return product(context, context.torch.float32, "tf32")


def fp16(context: Context) -> Facts:
    if not is_cuda(context.device):
        raise Skip("fp16 is timed on GPUs")
    return product(context, context.torch.float16, "fp16")


def bf16(context: Context) -> Facts:
    return product(context, context.torch.bfloat16, "bf16")


def fp8(context: Context) -> Facts:
    torch, size, found = context.torch, context.options["size"], capability(context)
    if found is None or found < (8, 9) or release(torch) < (2, 1):
        raise Skip("fp8 needs compute capability 8.9 and torch 2.1")
    a, b = [torch.randn(size, size).to(context.device).to(torch.float8_e4m3fn) for _ in range(2)]
    one, turned = torch.ones((), device=context.device), b.t()

    def once() -> None:
        torch._scaled_mm(a, turned, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    return {"rows": [rate(context, "matmul fp8", "TFLOP/s", 2 * size**3 / 1e12, once)]}


def copies(context: Context) -> Facts:
    """Pinned memory to the device and back, and within the device (bytes read and written)."""
    if not is_cuda(context.device):
        raise Skip("copies are timed on CUDA devices")
    torch, count = context.torch, 1 << 28
    here = torch.randint(0, 255, (count,), dtype=torch.uint8).pin_memory()
    there = here.to(context.device)
    other = torch.empty_like(there)
    gigabytes = count / 1e9
    return {
        "rows": [
            rate(context, "copy to device", "GB/s", gigabytes, lambda: there.copy_(here, non_blocking=True)),
            rate(context, "copy from device", "GB/s", gigabytes, lambda: here.copy_(there, non_blocking=True)),
            rate(context, "copy on device", "GB/s", 2 * gigabytes, lambda: other.copy_(there)),
        ]
    }
