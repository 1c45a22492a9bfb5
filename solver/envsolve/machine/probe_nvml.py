"""NVML: driver, the driver's CUDA, and each card, asked in this process under a time limit."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.probe import Probe
from envsolve.machine.reading import Reading
from envsolve.machine.words import dotted, gpu_name, is_tegra, lost

SOURCE = "nvml"
SECONDS = 15.0  # a lost GPU can make the driver hang
# Where the library is when the loader does not know it: WSL, GKE and other mounts, NixOS, Colab.
_LIBRARIES = (
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",
    "/usr/lib64-nvidia/libnvidia-ml.so.1",
)
# NVML's return codes (nvml.h) that say something of the machine.
_PROBLEMS = {
    4: Problem(code="permission", text="NVML may not ask the driver: insufficient permissions"),
    9: Problem(code="driver-not-loaded", text="NVML is installed, the NVIDIA driver is not loaded"),
    17: Problem(code="wsl-stub", text="the operating system blocks the GPU (under WSL: the Windows driver is absent)"),
    18: Problem(
        code="driver-library-mismatch",
        text="the kernel module and the driver's libraries have different versions; reboot, or reload the module",
    ),
}
_NOT_FOUND = 12


def ask_nvml(probe: Probe) -> list[Reading]:
    """What NVML says; its failure as a reading with the problem; [] where there is no NVML."""
    answers: list[list[Reading]] = []
    # A thread that hangs in the driver is left behind; it ends with the process.
    worker = threading.Thread(target=lambda: answers.append(_ask(probe)), daemon=True)
    worker.start()
    worker.join(SECONDS)
    return answers[0] if answers else [_failed(f"NVML gives no answer within {SECONDS:g} s")]


def _ask(probe: Probe) -> list[Reading]:
    try:
        nvml = probe.nvml()
    except ImportError:
        return []
    try:
        _start(nvml, probe)
    except nvml.NVMLError as error:
        return [] if error.value == _NOT_FOUND else [_failed(f"NVML: {error}", _PROBLEMS.get(error.value))]
    except Exception as error:  # a broken library must not end the program: it is a finding like any other
        return [_failed(f"NVML can't be used: {error}")]
    try:
        return [_read(nvml)]
    except Exception as error:
        return [_failed(f"NVML can't be used: {error}")]
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _start(nvml: Any, probe: Probe) -> None:
    """Load and start NVML; a library in one of the unusual places is loaded by its path first."""
    try:
        nvml.nvmlInit()
        return
    except nvml.NVMLError as error:
        if error.value != _NOT_FOUND or not any(map(probe.exists, _LIBRARIES)):
            raise
    for library in filter(probe.exists, _LIBRARIES):
        with suppress(OSError):
            ctypes.CDLL(str(probe.path(library)), mode=ctypes.RTLD_GLOBAL)  # found by its name from now on
            break
    nvml.nvmlInit()


def _failed(text: str, problem: Problem | None = None) -> Reading:
    return Reading(source=SOURCE, problems=(problem or Problem(code="unreadable", text=text),))


def _read(nvml: Any) -> Reading:
    count = _value(nvml, nvml.nvmlDeviceGetCount) or 0
    cards = [_gpu(nvml, index) for index in range(count)]
    problems = tuple(lost(index) for index, card in enumerate(cards) if card is None)
    gpus = tuple(card or Gpu(index=index) for index, card in enumerate(cards))
    return Reading(
        source=SOURCE,
        driver=dotted(_text(_value(nvml, nvml.nvmlSystemGetDriverVersion))),
        cuda_max=cuda_of_number(_value(nvml, _cuda_call(nvml))),
        gpus=gpus,
        tegra=True if any(is_tegra(gpu.name or "") for gpu in gpus) else None,
        vendor="nvidia" if gpus else None,
        problems=problems,
    )


def cuda_of_number(number: int | None) -> Dotted | None:
    """The CUDA of the driver's integer: 12080 is 12.8."""
    return Dotted.parse(f"{number // 1000}.{number % 1000 // 10}") if number else None


def _cuda_call(nvml: Any) -> Callable[[], int]:
    call: Callable[[], int] = getattr(nvml, "nvmlSystemGetCudaDriverVersion_v2", nvml.nvmlSystemGetCudaDriverVersion)
    return call


def _gpu(nvml: Any, index: int) -> Gpu | None:
    """One card; None where it does not answer. What an old driver does not know stays unknown."""
    handle = _value(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        return None
    name, truncated = gpu_name(_text(_value(nvml, nvml.nvmlDeviceGetName, handle)))
    capability = _value(nvml, nvml.nvmlDeviceGetCudaComputeCapability, handle)
    memory = _value(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    mig = _value(nvml, nvml.nvmlDeviceGetMigMode, handle)
    return Gpu(
        name=name,
        truncated=truncated,
        compute_capability=Capability(*capability) if capability else None,
        index=index,
        uuid=_text(_value(nvml, nvml.nvmlDeviceGetUUID, handle)) or None,
        memory_bytes=int(memory.total) if memory else None,
        mig=bool(mig and mig[0]),
    )


def _value(nvml: Any, call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except nvml.NVMLError:
        return None


def _text(value: str | bytes | None) -> str:
    """Older bindings give bytes."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value or ""
