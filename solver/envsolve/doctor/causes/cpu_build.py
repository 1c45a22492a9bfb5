"""The CPU build, though a GPU is to be used, and what chose it."""

from __future__ import annotations

from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import other_build, same_version
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_MACHINE_MARKER = regex(r"platform_machine == ['\"]x86_64['\"]")
_LINUX_MARKER = regex(r"(?:sys_platform == ['\"]linux|platform_system == ['\"]Linux)['\"]")
_CPU_INDEX = regex(r"whl/cpu\b|pytorch-cpu\b|torch-backend[= ]cpu")


def cpu_build(s: Situation) -> Finding | None:
    """torch without CUDA code next to a GPU."""
    e = s.evidence
    said = e.first("not-compiled")
    if (s.torch.accelerator != "cpu" and said is None) or not s.gpu_wanted or e.torch.mps:
        return None
    if said is not None and s.torch.accelerator == "cuda" and s.torch.certain:
        return None
    if said is None and e.has("no-permission") and not s.machine.gpus and not s.driver.known:
        return None
    why, fixes = _why(s)
    sure = s.torch.certain or said is not None
    return finding(
        s,
        "cpu-build",
        f"{s.torch.shown} is the CPU build{why}",
        shown=[said, e.first("cuda-unavailable")],
        fixes=fixes,
        certainty="high" if sure and (e.host.gpu_claimed or said) else "medium",
        fine=["driver and toolkit do not matter for this: the build has no CUDA code at all"],
    )


def _why(s: Situation) -> tuple[str, list[Fix]]:
    """What chose the CPU build, and the way to the right one."""
    by_marker = _by_marker(s)
    if by_marker is not None:
        return by_marker
    text, other = s.evidence.text, other_build(s, torch=same_version(s))
    if "cpuonly" in text:
        return ": the conda package cpuonly asks for it", [fix("leave cpuonly out"), *other]
    if _CPU_INDEX.search(text):
        return ": the cpu index was given", other
    if s.torch.distributor == "conda":
        cuda = str(s.driver.cuda) if s.driver.cuda else "VERSION"
        believe = "have the solver believe in a GPU where it cannot see one"
        way = fix(believe, f"CONDA_OVERRIDE_CUDA={cuda} conda create -n NAME pytorch")
        return ": conda's solver saw no CUDA driver", [way, *other]
    if s.machine.os == "windows":
        return ": on Windows the default Python index has no other", other
    if s.machine.arch == "aarch64":
        return ": for aarch64 the default Python index had no other", other
    return "", other


def _by_marker(s: Situation) -> tuple[str, list[Fix]] | None:
    """A marker of the project that never holds on Windows."""
    if s.machine.os != "windows":
        return None
    again = "uv lock && uv sync"
    if _MACHINE_MARKER.search(s.evidence.text):
        both = "marker = \"platform_machine == 'x86_64' or platform_machine == 'AMD64'\""
        way = fix("Windows calls the processor AMD64: let the marker accept both spellings", both, again)
        return ": the marker of its source never holds on Windows, which says AMD64", [way]
    if _LINUX_MARKER.search(s.evidence.text):
        both = "marker = \"sys_platform == 'linux' or sys_platform == 'win32'\""
        way = fix("extend the marker of the CUDA source to Windows (triton stays Linux only)", both, again)
        return ": the CUDA source in pyproject.toml applies to Linux only", [way]
    return None
