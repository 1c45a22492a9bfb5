"""Kinds of builds: for another accelerator, for a board that only its vendor serves, or for no GPU at all."""

from __future__ import annotations

import re

from envsolve.doctor.failed import FAMILY, failed
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import other_build, same_version
from envsolve.doctor.report_prose import prose
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_SPOKEN = {"rocm": "ROCm (AMD)", "xpu": "XPU (Intel)"}
_OWNER = {"amd": "AMD's", "intel": "Intel's"}
_AMD_ON_WINDOWS = fix(
    "take AMD's own ROCm wheels for Windows (its PyTorch on Windows pages), or Linux with a rocm build"
)
_NVIDIA = regex(r"\bnvidia-smi\b(?![^\n]*not found)|\bNVIDIA\b|\b(?:GeForce|RTX|GTX|Quadro|Tesla)\b", re.IGNORECASE)
_LABEL_BOUND = regex(r"torch\s?>=?\s?[\d.]+\+cu")


def vendor_needed(s: Situation) -> Finding | None:
    """A Jetson board with a public wheel, or an AMD GPU on Windows: only the vendor has builds."""
    tegra = s.rulebook.tegra_capabilities
    board = s.machine.tegra or any(g.compute_capability in tegra for g in s.machine.gpus)
    amd = s.machine.vendor == "amd" and s.machine.os == "windows" and s.torch.accelerator != "rocm"
    if not (board or amd) or s.torch.vendor or s.served:
        return None
    if amd:
        headline = "PyTorch publishes no build for an AMD GPU on Windows"
        way = _AMD_ON_WINDOWS
    else:
        what = s.torch.shown if s.torch.known else "a public wheel"
        headline = f"only NVIDIA's own builds serve this board; {what} does not"
        text = "take the wheel that NVIDIA builds for this board's JetPack, and hold it by a constraint on its version"
        way = fix(text, "cat /etc/nv_tegra_release")
    return finding(s, "vendor-index-needed", headline, fixes=[way])


def board_without_wheel(s: Situation) -> Finding | None:
    """An install that finds no torch on a Jetson board: the indexes have none for it."""
    unmet = any(f.name in FAMILY for f in failed(s.evidence))
    return vendor_needed(s) if s.machine.tegra and unmet else None


def wrong_accelerator(s: Situation) -> Finding | None:
    """A build for another accelerator than the one that is there."""
    asks = ("not-compiled", "no-driver") if s.evidence.torch.mps else ("not-compiled", "cuda-unavailable", "no-driver")
    if s.machine.os == "macos" and s.evidence.has(*asks):
        headline = "there is no CUDA on a Mac: the program asks for an accelerator that this system does not have"
        way = fix('use the device "mps" on Apple Silicon, "cpu" elsewhere; no other torch build changes this')
        shown = s.evidence.all("not-compiled", "cuda-unavailable")[:1]
        return finding(s, "wrong-accelerator", headline, shown=shown, fixes=[way], elsewhere=True)
    headline = _wrong(s)
    if not headline:
        return None
    shown = s.evidence.all("no-driver", "not-compiled")[:1]
    return finding(s, "wrong-accelerator", headline, shown=shown, fixes=_fixes(s))


def _wrong(s: Situation) -> str:
    """What is wrong about the kind of build; "" where nothing is."""
    kind, vendor = s.torch.accelerator, s.machine.vendor
    if kind in _SPOKEN and vendor in ("nvidia", None) and (s.evidence.host.gpu_claimed or s.is_failing):
        unsure = vendor is None and not s.driver.known and not _NVIDIA.search(prose(s.evidence.text))
        return "" if unsure else f"{s.torch.shown} is a build for {_SPOKEN[kind]}, the GPU is NVIDIA's"
    if vendor not in ("amd", "intel"):
        return ""
    if kind == "cuda" or (kind == "" and s.evidence.has("no-driver")):
        return f"{s.torch.shown} is a build for NVIDIA, the GPU is {_OWNER[vendor]}"
    asks = s.evidence.has("not-compiled", "cuda-unavailable")
    if kind == "cpu" and vendor == "amd" and s.machine.os == "linux" and asks:
        return f"{s.torch.shown} is the CPU build, the AMD GPU needs a rocm build"
    return ""


def no_such_gpu(s: Situation) -> Finding | None:
    """A CUDA build where there is no NVIDIA GPU at all."""
    if s.torch.accelerator != "cuda" or not s.evidence.host.gpu_absent or s.machine.gpus or s.evidence.host.container:
        return None
    headline = f"{s.torch.shown} is a build for CUDA, and this machine has no NVIDIA card"
    return finding(s, "wrong-accelerator", headline, shown=s.evidence.all("no-driver")[:1], fixes=_fixes(s))


def _fixes(s: Situation) -> list[Fix]:
    if s.machine.vendor == "amd" and s.machine.os == "windows":
        return [_AMD_ON_WINDOWS]
    fixes = other_build(s, torch=same_version(s))
    if s.torch.accelerator == "rocm" and _LABEL_BOUND.search(s.evidence.text):
        fixes.insert(0, fix("pin exactly (==): with >= a local label does not hold, and labels sort as text"))
    return fixes
