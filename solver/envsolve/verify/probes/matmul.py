"""Matrix products in every precision, against float64 on the CPU."""

from typing import Any

from . import close
from .protocol import Context, Facts, Skip, is_cuda, release

ROWS, INNER, COLUMNS = 192, 320, 256  # multiples of 16, as fp8 asks


def set_tf32(torch: Any, on: bool) -> None:
    """Allow or forbid TF32 in matrix products and convolutions."""
    if hasattr(torch.backends.cuda, "matmul"):
        torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


def capability(context: Context) -> Any:
    """(9, 0) for an NVIDIA device, else None."""
    if is_cuda(context.device) and not getattr(context.torch.version, "hip", None):
        return tuple(context.torch.cuda.get_device_capability(context.device))
    return None


def product(context: Context, dtype: Any, what: str, tolerance: float) -> Facts:
    """One product in `dtype`; the reference starts from the same rounded inputs."""
    torch = context.torch
    a = torch.randn(ROWS, INNER).to(dtype)
    b = torch.randn(INNER, COLUMNS).to(dtype)
    got = torch.matmul(a.to(context.device), b.to(context.device))
    return {"errors": [close.relative(what, got, torch.matmul(a.double(), b.double()), tolerance)]}


def fp32(context: Context) -> Facts:
    """Full float32: an error of TF32's size fails."""
    set_tf32(context.torch, False)
    return product(context, context.torch.float32, "fp32", 1e-5)


def tf32(context: Context) -> Facts:
    """TensorFloat-32, from compute capability 8.0 on."""
    found = capability(context)
    if found is None or found < (8, 0):
        raise Skip("TF32 starts with compute capability 8.0")
    set_tf32(context.torch, True)
    try:
        return product(context, context.torch.float32, "tf32", 3e-3)
    finally:
        set_tf32(context.torch, False)


def fp16(context: Context) -> Facts:
    return narrow(context, context.torch.float16, "fp16", 5e-3 if is_cuda(context.device) else 1e-2)


def bf16(context: Context) -> Facts:
    if not hasattr(context.torch, "bfloat16"):
        raise Skip("this torch has no bfloat16")
    # The CPU kernels of torch 1.7 also add up in 16 bits.
    return narrow(context, context.torch.bfloat16, "bf16", 2e-2 if is_cuda(context.device) else 6e-2)


def narrow(context: Context, dtype: Any, what: str, tolerance: float) -> Facts:
    """A 16-bit product; a device or an old torch that lacks it is skipped, with its own words."""
    try:
        return product(context, dtype, what, tolerance)
    except RuntimeError as error:
        found = capability(context)
        missing = "not implemented for" in str(error) or "not supported" in str(error).lower()
        too_old = what == "bf16" and found is not None and found < (8, 0) and "CUBLAS" in str(error)
        if missing or too_old:
            raise Skip(str(error).splitlines()[0]) from None
        raise


def fp8(context: Context) -> Facts:
    """float8_e4m3fn through torch._scaled_mm, from compute capability 8.9 and torch 2.1 on."""
    torch = context.torch
    found = capability(context)
    if found is None or found < (8, 9):
        raise Skip("fp8 starts with compute capability 8.9")
    if release(torch) < (2, 1) or not hasattr(torch, "_scaled_mm"):
        raise Skip("this torch has no fp8 product")
    a = torch.randn(ROWS, INNER).to(torch.float8_e4m3fn)
    b = torch.randn(COLUMNS, INNER).to(torch.float8_e4m3fn)
    one = torch.ones((), device=context.device)
    try:
        got = torch._scaled_mm(
            a.to(context.device), b.to(context.device).t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16
        )
    except (RuntimeError, TypeError) as error:
        if "compute capability" in str(error) or "argument" in str(error) or "not supported" in str(error).lower():
            raise Skip(str(error).splitlines()[0]) from None
        raise
    got = got[0] if isinstance(got, tuple) else got
    reference = torch.matmul(a.float().double(), b.float().double().t())
    return {"errors": [close.relative("fp8", got, reference, 3e-2)]}
