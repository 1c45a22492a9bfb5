"""libcuda, asked by a child process under a time limit: containers have it without nvidia-smi and NVML."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from envsolve.capability import Capability
from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.probe import Probe
from envsolve.machine.probe_nvml import cuda_of_number
from envsolve.machine.reading import Reading
from envsolve.machine.words import gpu_name
from envsolve.regex import regex

SOURCE = "libcuda"
SECONDS = 30.0  # cuInit on a box of eight cards without persistence mode takes many seconds
_LINUX = (
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
    "/usr/lib64-nvidia/libcuda.so.1",
)
_WINDOWS = ("nvcuda.dll",)
_MIG = regex(r"\bMIG \d+c?\.?\d*g\.")
_NO_DEVICE = 100
# CUresult (cuda.h) of cuInit that says something of the machine.
_PROBLEMS = {
    802: Problem(code="driver-not-loaded", text="CUDA 802: the system is not ready; is the fabric manager running?"),
    803: Problem(
        code="driver-library-mismatch", text="CUDA 803: libcuda and the loaded driver do not go together; reboot"
    ),
    804: Problem(
        code="driver-library-mismatch",
        text="CUDA 804: a forward-compatibility libcuda (cuda-compat) is in use, which this GPU does not support",
    ),
}


def ask_libcuda(probe: Probe) -> list[Reading]:
    """What libcuda says; its failure as a reading with the problem; [] where there is no libcuda."""
    libraries = _WINDOWS if probe.system == "win32" else _LINUX
    child = Path(__file__).with_name("libcuda_child.py")
    ran = probe.run([sys.executable, "-I", "-S", str(child), *libraries], SECONDS)
    return parse_libcuda(ran.out) if ran.status == 0 else [_failed(f"libcuda crashed or gave no answer: {_end(ran)}")]


def parse_libcuda(text: str) -> list[Reading]:
    """The reading of the child's line of JSON."""
    try:
        said: dict[str, Any] = json.loads(text)
        status, devices = said.get("status"), said.get("devices", [])
        if said["library"] is None:
            return []
        gpus = tuple(_gpu(index, device) for index, device in enumerate(devices))
    except (ValueError, KeyError, TypeError, AttributeError):
        return [_failed(f"libcuda's answer can't be read: {text[:60]!r}")]
    known = status in (0, _NO_DEVICE)
    unknown = Problem(code="unreadable", text=f"libcuda can't start: CUDA error {status}")
    return [
        Reading(
            source=SOURCE,
            cuda_max=cuda_of_number(said.get("cuda")),
            gpus=gpus if known else None,
            partial=any(_MIG.search(gpu.name or "") for gpu in gpus),  # with MIG it shows slices of some cards only
            vendor="nvidia" if gpus else None,
            problems=() if known else (_PROBLEMS.get(status or 0, unknown),),
        )
    ]


def _gpu(index: int, device: dict[str, Any]) -> Gpu:
    name, truncated = gpu_name(device["name"])
    major, minor = device["capability"]
    return Gpu(
        name=name,
        truncated=truncated,
        compute_capability=None if major is None or minor is None else Capability(major, minor),
        index=index,
        memory_bytes=device["memory"],
        mig=bool(_MIG.search(name or "")),
    )


def _failed(text: str) -> Reading:
    return Reading(source=SOURCE, problems=(Problem(code="unreadable", text=text),))


def _end(ran: Any) -> str:
    lines = ran.err.strip().splitlines()
    return lines[-1][:120] if lines else f"status {ran.status}"
