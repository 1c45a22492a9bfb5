"""Run as a program of its own: asks libcuda, which may crash or hang, and prints what it says as one line of JSON.

Standard library only (it runs with -I -S); arguments: the libraries to try, best first.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

_NAME_BYTES = 256
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


def ask(libraries: list[str]) -> dict[str, Any]:
    """The library found, its CUDA as an integer, cuInit's status, and the devices where that is 0."""
    # The machine is asked, not what a mask leaves of it; cards in the order of the bus, as NVML lists them.
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    name, cuda = _load(libraries)
    said: dict[str, Any] = {"library": name}
    if cuda is None:
        return said
    said |= {"cuda": _number(cuda.cuDriverGetVersion), "status": cuda.cuInit(0)}
    if said["status"] == 0:
        said["devices"] = [_device(cuda, index) for index in range(_number(cuda.cuDeviceGetCount) or 0)]
    return said


def _load(libraries: list[str]) -> tuple[str | None, Any]:
    for library in libraries:
        try:
            return library, ctypes.CDLL(library)
        except OSError:
            continue
    return None, None


def _number(call: Any, *args: Any) -> int | None:
    """The integer that a call writes through its first argument; None where the call fails."""
    value = ctypes.c_int()
    return value.value if call(ctypes.byref(value), *args) == 0 else None


def _device(cuda: Any, index: int) -> dict[str, Any]:
    handle = _number(cuda.cuDeviceGet, index)
    name = ctypes.create_string_buffer(_NAME_BYTES)
    named = cuda.cuDeviceGetName(name, _NAME_BYTES, handle) == 0
    memory = ctypes.c_size_t()
    sized = cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), handle) == 0
    return {
        "name": name.value.decode("utf-8", "replace") if named else None,
        "capability": [_number(cuda.cuDeviceGetAttribute, what, handle) for what in (_MAJOR, _MINOR)],
        "memory": memory.value if sized else None,
    }


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1:])))  # noqa: T201 - the answer to the parent
