"""What the imported torch is: its CUDA, the code targets of its binary, and what the driver says."""

import ctypes
import os
import sys
from typing import Any

from .protocol import Context, Facts


def build(context: Context) -> Facts:
    """The versions and the arch list of the binary; works without a GPU."""
    torch = context.torch
    version = torch.version
    return {
        "version": str(torch.__version__),
        "file": str(torch.__file__),
        "cuda": getattr(version, "cuda", None) or "",
        "hip": getattr(version, "hip", None) or "",
        "xpu": getattr(version, "xpu", None) or "",
        "targets": arch_list(torch),
        "cudnn": cudnn(torch),
    }


def arch_list(torch: Any) -> Any:
    """The targets compiled into torch; asked of the binary, since get_arch_list() is empty without a usable GPU."""
    flags = getattr(torch._C, "_cuda_getArchFlags", None) if hasattr(torch, "_C") else None
    text = flags() if flags else None
    return text.split() if text else list(torch.cuda.get_arch_list())


def cudnn(torch: Any) -> str:
    """cuDNN's version as torch gives it (91002), "" for a build without."""
    try:
        return str(torch.backends.cudnn.version() or "")
    except Exception as error:
        return f"unreadable: {error}"


def driver(context: Context) -> Facts:
    """Whether torch can use a device of this kind, which ones there are, and if none, why not."""
    kind = context.options.get("kind", "cuda")
    if kind in ("cuda", "rocm"):
        return cuda_devices(context.torch)
    if kind == "mps":
        there = context.torch.backends.mps.is_available()
        return {"available": there, "devices": [device("mps", "Apple GPU", None)] if there else [], "why": ""}
    names = range(context.torch.xpu.device_count()) if context.torch.xpu.is_available() else []
    devices = [device(f"xpu:{n}", context.torch.xpu.get_device_name(n), None) for n in names]
    return {"available": bool(devices), "devices": devices, "why": ""}


def device(name: str, model: str, capability: Any) -> Facts:
    return {"device": name, "model": model, "capability": capability}


def cuda_devices(torch: Any) -> Facts:
    """The devices of torch.cuda with their capability, e.g. [9, 0]; without one, the words of torch and of libcuda."""
    facts: Facts = {
        "available": bool(torch.cuda.is_available()),
        "devices": [],
        "why": "",
        "libcuda": "",
        "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
    }
    if not facts["available"]:
        facts["why"] = torch_says(torch)
        facts["libcuda"] = libcuda_says()
        return facts
    for n in range(torch.cuda.device_count()):
        capability = list(torch.cuda.get_device_capability(n))
        facts["devices"].append(device(f"cuda:{n}", torch.cuda.get_device_name(n), capability))
    return facts


def torch_says(torch: Any) -> str:
    """The error of torch when it is made to start CUDA."""
    try:
        torch.cuda.init()
        torch.cuda.current_device()
    except BaseException as error:
        return (str(error).splitlines() or [type(error).__name__])[0]
    return "torch gives no reason"


def libcuda_says() -> str:
    """What the driver's own library answers: not there, can't be loaded, or the error of cuInit."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        return str(error)
    code = library.cuInit(0)
    if code == 0:
        count = ctypes.c_int()
        library.cuDeviceGetCount(ctypes.byref(count))
        return f"cuInit succeeds, {count.value} device(s)"
    text = ctypes.c_char_p()
    library.cuGetErrorName(code, ctypes.byref(text))
    return "cuInit fails with {} ({})".format((text.value or b"an unknown error").decode(), code)
