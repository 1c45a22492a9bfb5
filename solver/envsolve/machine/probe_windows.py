"""The display adapters that Windows knows: the last source where no library of NVIDIA answers."""

from __future__ import annotations

import re

from envsolve.dotted import Dotted
from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.probe import Probe
from envsolve.machine.reading import Reading
from envsolve.machine.words import named_gpu, vendor_of
from envsolve.regex import regex

SOURCE = "Windows display adapters"
SECONDS = 20.0
_COMMAND = "Get-CimInstance Win32_VideoController | ForEach-Object { $_.Name + '|' + $_.DriverVersion }"
_DISCRETE_INTEL = regex(r"\barc\b", re.IGNORECASE)


def ask_windows(probe: Probe) -> list[Reading]:
    """The adapters by name; [] on other systems, or where Windows does not say."""
    if probe.system != "win32":
        return []
    ran = probe.run(["powershell", "-NoProfile", "-NonInteractive", "-Command", _COMMAND], SECONDS)
    return parse_adapters(ran.out) if ran.status == 0 else []


def parse_adapters(text: str) -> list[Reading]:
    """The reading of "name|driver" lines: NVIDIA's cards first, else AMD's, else Intel's that compute."""
    lines = [line.partition("|") for line in text.splitlines() if line.strip()]
    nvidia = [(name, driver) for name, _, driver in lines if "nvidia" in name.lower()]
    if nvidia:
        return [_nvidia(nvidia)]
    amd = [named_gpu(name) for name, _, _ in lines if vendor_of(name) == "amd"]
    intel = [named_gpu(name) for name, _, _ in lines if vendor_of(name) == "intel" and _DISCRETE_INTEL.search(name)]
    if amd:
        return [Reading(source=SOURCE, gpus=tuple(amd), vendor="amd")]
    return [Reading(source=SOURCE, gpus=tuple(intel), vendor="intel")] if intel else []


def _nvidia(adapters: list[tuple[str, str]]) -> Reading:
    gpus: tuple[Gpu, ...] = tuple(named_gpu(name) for name, _ in adapters)
    text = "Windows lists an NVIDIA GPU, but neither NVML nor nvidia-smi answers: install NVIDIA's own driver"
    return Reading(
        source=SOURCE,
        driver=windows_driver(adapters[0][1]),
        gpus=gpus,
        vendor="nvidia",
        problems=(Problem(code="no-driver", text=text),),
    )


def windows_driver(version: str) -> Dotted | None:
    """NVIDIA's number inside Windows' own: the last five digits of 31.0.15.4617 are 546.17."""
    parts = version.strip().split(".")
    digits = "".join(parts[2:])[-5:] if len(parts) == 4 else ""
    return Dotted.parse(f"{digits[:3]}.{digits[3:]}") if len(digits) == 5 and digits.isdecimal() else None
