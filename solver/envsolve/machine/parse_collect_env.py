"""torch.utils.collect_env, in torch's form ("Key: value") and in vLLM's ("Key    : value" in sections)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envsolve.dotted import Dotted
from envsolve.machine.machine import Arch, Gpu, Libc, Os, Vendor
from envsolve.machine.reading import Reading
from envsolve.machine.words import arch_name, dotted, is_unknown, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "collect_env"
_KEYS = (
    "PyTorch version", "CUDA used to build PyTorch", "ROCM used to build PyTorch", "OS", "Libc version",
    "Python version", "Python platform", "Is CUDA available", "GPU models and configuration",
    "Nvidia driver version", "HIP runtime version", "Is XPU available", "Architecture",
)  # fmt: skip
# A key may stand after prose, a prompt or a quote sign; its value ends with the line.
_LINE = regex(r"^[ \t>|*-]*(" + "|".join(map(re.escape, _KEYS)) + r")[ \t]*[:=][ \t]?(.*)$", re.MULTILINE)
_MODELS = regex(r"GPU models and configuration\s*:[ \t]*(.*(?:\n[ \t>]*(?:GPU \d+:|MIG ).*)*)")
_GPU = regex(r"GPU (\d{1,3}): (.*?)(?:\s*\(UUID: [^)]*\))?\s*$")
_AMD = regex(r"^(.*?)\s*\((gfx[0-9a-f]{3,5})[^)]*\)\s*$")
_MIG = regex(r"^[ \t>]*MIG \S+\s+Device")
_XPU = regex(r"_XpuDeviceProperties\(name='([^']+)'")
# The marks of the form: one of these keys must be there, the rest are common words.
_MARKS = ("CUDA used to build PyTorch", "GPU models and configuration", "Nvidia driver version", "Is CUDA available")

Values = Mapping[str, str]


def parse_collect_env(text: str) -> list[Reading]:
    """The reading of a collect_env report; [] where there is none.

    The CUDA that torch was built with and the CUDA runtime are not the driver's CUDA, which the report never holds.
    """
    values: dict[str, str] = {}
    for match in _LINE.finditer(text):
        values.setdefault(match[1], match[2].strip())
    if not any(mark in values for mark in _MARKS):
        return []
    os = _os(values)
    gpus = _gpus(text) or _intel_gpus(text)
    return [
        Reading(
            source=SOURCE,
            os=os,
            arch=_arch(values, os),
            python=_python(values.get("Python version", "")),
            libc=_libc(values.get("Libc version", "")),
            driver=dotted(values.get("Nvidia driver version")),
            gpus=gpus,
            wsl=True if "microsoft-standard" in values.get("Python platform", "").lower() else None,
            tegra=True if "-tegra" in values.get("Python platform", "") else None,
            vendor=_vendor(values, gpus, text),
        )
    ]


def _os(values: Values) -> Os | None:
    told = f"{values.get('OS', '')} {values.get('Python platform', '')}".lower()
    if "windows" in told:
        return "windows"
    if "mac" in told or "darwin" in told:
        return "macos"
    linux = "linux" in told or "glibc" in values.get("Libc version", "") or re.search(r"\((x86_64|aarch64)\)", told)
    return "linux" if linux else None


def _arch(values: Values, os: Os | None) -> Arch | None:
    """The word in brackets behind the OS, else inside the platform string, else the CPU section's."""
    bracket = re.search(r"\((\w+)\)\s*$", values.get("OS", ""))
    platform = re.search(r"(?i)\b(x86_64|amd64|aarch64|arm64)\b", values.get("Python platform", "").replace("-", " "))
    for word in (bracket, platform):
        if word and (arch := arch_name(word[1], os)):
            return arch
    told = values.get("Architecture", "")
    return arch_name({"9": "x86_64", "12": "arm64"}.get(told, told), os)  # Windows gives WMI's number


def _python(text: str) -> str | None:
    match = re.match(r"(\d\.\d{1,2})(?:\.\d+)?", text)
    return match[1] if match else None


def _libc(text: str) -> Libc | None:
    match = re.match(r"glibc[- ](\d+(?:\.\d+)+)", text)
    if match:
        return Libc(name="glibc", version=Dotted.parse(match[1]))
    return Libc(name="musl") if "musl" in text.lower() else None


def _gpus(text: str) -> tuple[Gpu, ...] | None:
    """The cards; None where the report could not collect them."""
    block = _MODELS.search(text)
    if block is None:
        return None
    listed = _listed(block[1])
    if listed:
        return listed
    first = block[1].splitlines()[0].strip() if block[1].strip() else ""
    if first.lower() == "no cuda":
        return ()
    amd = _AMD.match(first)
    if amd:
        return (Gpu(name=amd[1] or None, gfx=amd[2]),)
    return None if is_unknown(first) else (named_gpu(first),)


def _intel_gpus(text: str) -> tuple[Gpu, ...] | None:
    """Intel's cards, of which torch prints the properties."""
    return tuple(named_gpu(match[1]) for match in _XPU.finditer(text)) or None


def _listed(block: str) -> tuple[Gpu, ...]:
    """The "GPU 0: …" lines; a MIG line belongs to the card above it."""
    gpus: list[Gpu] = []
    for line in block.splitlines():
        if match := _GPU.search(line):
            gpus.append(named_gpu(match[2], index=int(match[1])))
        elif gpus and _MIG.match(line):
            gpus[-1] = replace(gpus[-1], mig=True)
    return tuple(gpus)


def _vendor(values: Values, gpus: tuple[Gpu, ...] | None, text: str) -> Vendor | None:
    if any(gpu.gfx for gpu in gpus or ()):
        return "amd"
    if _XPU.search(text) and not values.get("GPU models and configuration", "").startswith("GPU "):
        return "intel"
    rocm = not is_unknown(values.get("ROCM used to build PyTorch", ""))
    if gpus:
        return "amd" if rocm and dotted(values.get("Nvidia driver version")) is None else "nvidia"
    sees_cuda = values.get("Is CUDA available", "").lower() in ("true", "yes") and not rocm
    return "nvidia" if sees_cuda or dotted(values.get("Nvidia driver version")) else None
