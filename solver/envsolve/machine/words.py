"""Small readers that every form shares: dotted numbers, capabilities, names and the many spellings of "unknown"."""

from __future__ import annotations

import re
from typing import cast

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.machine import Arch, Gpu, Os, Problem, Vendor
from envsolve.regex import regex

# What NVIDIA's tools print in place of a value; brackets around it are dropped before the comparison.
_UNKNOWN = {
    "", "-", "n/a", "na", "none", "null", "err!", "error", "unknown", "unknown error", "not supported",
    "not available", "insufficient permissions", "gpu is lost", "gpu requires reset", "could not collect", "no cuda",
    "function not found", "requested functionality has been deprecated", "not found", "deprecated",
}  # fmt: skip
_CUT = regex(r"(?:\.\.\.|…)$")
_OSES = {
    "linux": "linux", "windows": "windows", "win": "windows", "win32": "windows", "macos": "macos", "mac": "macos",
    "darwin": "macos", "osx": "macos",
}  # fmt: skip
_ARCHES = {"x86_64": "x86_64", "amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "a", "arm64": "a"}
_VENDORS = ("nvidia", "amd", "intel", "apple", "none")
# The makers' own words, and the series that people name without the maker: "RX 7900 XTX", "MI50", "Iris Xe".
_AMD = regex(
    r"\b(?:amd|radeon|instinct|ryzen|navi|vega|strix|gfx[0-9a-f]{3,5}|rx[ -]?\d{3,4}\w*|\d{4} ?xtx?|mi\d{1,3}[ax]?"
    r"|w[57][4-9]00|r9700)\b",
    re.IGNORECASE,
)
_INTEL = regex(
    r"\b(?:intel|arc|iris|u?hd graphics|data cent(?:er|re) gpu|(?:panther|lunar|arrow|meteor) lake|battlemage|alchemist"
    r"|ponte vecchio)\b",
    re.IGNORECASE,
)
_NVIDIA = regex(r"\b(?:nvidia|geforce|quadro|tesla)\b", re.IGNORECASE)
_APPLE = regex(r"\bapple\b", re.IGNORECASE)
_TEGRA = regex(r"\b(?:jetson|tegra|orin|xavier|thor|tx[12])\b|\(nvgpu\)", re.IGNORECASE)


def is_unknown(text: str) -> bool:
    """Whether a tool printed this in place of a value: N/A, [Not Supported], ERR!, Unknown Error and the like."""
    return text.strip().strip("[]").strip().lower() in _UNKNOWN


def dotted(text: str | None) -> Dotted | None:
    """The dotted number that a tool printed, or None; what follows a blank ("610.43 [Deprecated …]") is dropped."""
    words = (text or "").split()
    try:
        return Dotted.parse(words[0]) if words else None
    except ValueError:
        return None


def capability(text: str | None) -> Capability | None:
    """The compute capability that a tool printed ("8.9"), or None."""
    try:
        return Capability.parse(text or "")
    except ValueError:
        return None


def mebibytes(text: str | None) -> int | None:
    """Bytes of "24576 MiB" or "24576MiB" or a bare number of MiB; None for anything else."""
    match = re.fullmatch(r"(\d{1,9})\s*(?:MiB|MB)?", (text or "").strip(), re.ASCII)
    return int(match[1]) * 1024 * 1024 if match else None


def squeeze(text: str) -> str:
    """One blank where there were several."""
    return " ".join(text.split())


def gpu_name(text: str | None) -> tuple[str | None, bool]:
    """The name as printed (blanks squeezed) and whether the tool cut it; None where it printed no name."""
    name = squeeze(text or "")
    if is_unknown(name):
        return None, False
    return name, bool(_CUT.search(name))


def named_gpu(text: str | None, *, index: int | None = None, uuid: str | None = None) -> Gpu:
    """A Gpu of a printed name, nameless when the tool printed none."""
    name, truncated = gpu_name(text)
    return Gpu(name=name, truncated=truncated, index=index, uuid=uuid)


def is_lost(text: str | None) -> bool:
    """Whether a tool printed an error where the name of a GPU belongs."""
    word = (text or "").strip().strip("[]").strip().lower()
    return word in {"err!", "unknown error", "gpu is lost", "gpu requires reset", "error"}


def lost(index: int | None) -> Problem:
    """The problem of a GPU that a tool lists but cannot ask."""
    return Problem(code="gpu-lost", text=f"GPU {'?' if index is None else index} is listed but does not answer (lost)")


def os_name(text: str) -> Os | None:
    """The system of a word in any usual spelling, or None."""
    return cast("Os | None", _OSES.get(text.strip().lower()))


def arch_name(text: str, os: Os | None) -> Arch | None:
    """The architecture of a word (AMD64, arm64); 64-bit ARM is aarch64 on Linux and arm64 elsewhere."""
    arch = _ARCHES.get(text.strip().lower())
    if arch == "a":
        arch = "aarch64" if os in (None, "linux") else "arm64"
    return cast("Arch | None", arch)


def vendor_name(text: str) -> Vendor | None:
    """The vendor of a word, or None."""
    word = text.strip().lower()
    return cast("Vendor | None", word if word in _VENDORS else None)


def vendor_of(name: str) -> Vendor:
    """Whose GPU a name speaks of; NVIDIA's names need not say so ("RTX 4090", "Tesla T4")."""
    if _NVIDIA.search(name):
        return "nvidia"
    if _AMD.search(name):
        return "amd"
    if _INTEL.search(name):
        return "intel"
    return "apple" if _APPLE.search(name) else "nvidia"


def is_tegra(name: str) -> bool:
    """Whether the name itself says that this is a Tegra board ("Jetson …", "Orin (nvgpu)", "NVIDIA Thor")."""
    return bool(_TEGRA.search(name))
