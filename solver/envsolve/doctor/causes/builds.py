"""Builds: no code for the GPU, the CPU build, a build for another accelerator, a board that only its vendor serves."""

from __future__ import annotations

import re

from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import (
    ASK_DRIVER,
    ASK_GPU,
    ASK_TORCH,
    choose,
    new_environment,
    other_build,
    planned,
    same_version,
)
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import facts_of, gpu_words, quoted
from envsolve.judge.rocm import rocm_refusal

_KERNEL = (
    "no-kernel-image", "not-compatible", "gpu-too-old", "arch-mismatch", "invalid-device-function", "bad-image", "requires-cuda",
    "no-sdpa-kernel",
)  # fmt: skip
_LIBRARY = ("triton-gpu-old", "ptxas-target", "nvrtc-target")
_SPOKEN = {"rocm": "ROCm (AMD)", "xpu": "XPU (Intel)", "cuda": "CUDA (NVIDIA)", "cpu": "CPU"}


def no_kernels(s: Situation) -> Finding | None:
    """The build, or a library of it, has no code for a GPU in use."""
    e = s.evidence
    said = e.first("not-compatible", "gpu-too-old", "requires-cuda")
    shown = said or e.first(*_KERNEL)
    refusal = s.refusal("no-kernels")
    library = e.first(*_LIBRARY)
    if refusal is None and said is None and library is None and not s.toolkit_lacks:
        return None
    if refusal is None and said is not None and s.served and e.torch.computed:
        return None
    if s.torch.accelerator in ("cpu", "xpu"):
        return None
    if library is not None and refusal is None and said is None and not s.toolkit_lacks:
        return _library(s, library.name)
    return Finding(
        code="no-kernels",
        headline=f"{s.torch.shown} has no code for {_unserved(s)}",
        certainty="high" if shown or (s.torch.build and s.torch.build.certainty == "high") else "medium",
        evidence=tuple(
            [*quoted([shown]), *([refusal.text] if refusal else []), *filter(None, [s.toolkit_lacks]), *facts_of(s)]
        ),
        fixes=tuple(_kernel_fixes(s)),
        fine=("is_available() is True with any driver and card: it proves nothing about kernels",)
        if e.torch.available
        else (),
    )


def _unserved(s: Situation) -> str:
    bad = [gpu for gpu, fit in zip(s.machine.gpus, s.gpu_fits, strict=False) if fit.verdict == "unsupported"]
    return gpu_words(bad or s.machine.gpus)


def _kernel_fixes(s: Situation) -> list[Fix]:
    fixes = []
    found = planned(s, torch=same_version(s))
    if found is not None:
        fixes.append(new_environment(found, "which has code for it"))
    else:
        fixes += _variants_with_code(s)
    if s.evidence.host.container:
        fixes.append(Fix(text="or take another image, or another type of GPU"))
    return fixes


def _variants_with_code(s: Situation) -> list[Fix]:
    """Builds with code for every GPU where no plan can be made (the driver is not known, say)."""
    from envsolve.judge.kernels import best_cubin

    capabilities = [g.compute_capability for g in s.machine.gpus if g.compute_capability]
    if not capabilities:
        return [choose(s)]
    tegra = s.rulebook.tegra_capabilities
    builds = [
        b
        for b in s.rulebook.builds_on(s.machine.platform)
        if b.advertised and all(best_cubin(b, c, tegra) for c in capabilities)
    ]
    if not builds:
        text = (
            "no published build has code for it: build torch from source with this GPU's target, or use the CPU build"
        )
        return [Fix(text=text, commands=("envsolve plan torch",))]
    same = [b for b in builds if b.torch == s.torch.version]
    chosen = same or [b for b in builds if b.torch == builds[-1].torch]
    names = " or ".join(f"{b.torch}+{b.variant}" for b in chosen[-3:])
    return [Fix(text=f"take torch {names}, which have code for it, if the driver serves their CUDA"), choose(s)]


def _library(s: Situation, name: str) -> Finding:
    what = {
        "triton-gpu-old": "triton (torch.compile) serves no GPU this old",
        "ptxas-target": "triton's ptxas does not know this GPU yet",
        "nvrtc-target": "the CUDA of this build (nvrtc) does not know this GPU",
    }[name]
    fixes = {
        "triton-gpu-old": [Fix(text="run without torch.compile: eager code does not need triton")],
        "ptxas-target": [
            Fix(
                text="let triton use the ptxas of a newer toolkit",
                commands=("export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas",),
            )
        ],
        "nvrtc-target": other_build(s, why="whose CUDA knows the GPU"),
    }[name]
    return Finding(
        code="no-kernels",
        headline=what,
        certainty="high",
        evidence=tuple([*quoted(s.evidence.all(name)[:1]), *facts_of(s)]),
        fixes=tuple(fixes),
    )


def no_gfx_code(s: Situation) -> Finding | None:
    """A ROCm build without code for the AMD GPU."""
    if s.torch.accelerator != "rocm" or s.machine.vendor != "amd":
        return None
    shown = s.evidence.first("no-kernel-image", "invalid-device-function", "bad-image", "library-failed")
    refusal = rocm_refusal(s.torch.build, s.machine) if s.torch.build else None
    if shown is None and refusal is None:
        return None
    names = ", ".join(g.name or g.gfx or "the GPU" for g in s.machine.gpus) or "the GPU"
    return Finding(
        code="no-kernels",
        headline=f"{s.torch.shown} has no code for {names}",
        certainty="high" if refusal else "medium",
        evidence=tuple([*quoted([shown]), *([refusal.text] if refusal else []), *facts_of(s)]),
        fixes=(
            Fix(
                text="take a newer rocm build, or AMD's own index, that lists this gfx target",
                commands=("rocminfo | grep gfx", "envsolve plan torch"),
            ),
            Fix(
                text="HSA_OVERRIDE_GFX_VERSION only pretends another target: faults are reported where the instructions differ"
            ),
        ),
    )


def kernels_in_doubt(s: Situation) -> Finding | None:
    """ "no kernel image", and the torch or the GPU that decides is not in the text, or has the code by the rules."""
    shown = s.evidence.first("no-kernel-image", "invalid-device-function", "bad-image", "arch-mismatch")
    if shown is None:
        return None
    missing = []
    if not s.torch.known or s.torch.build is None or not s.torch.build.targets_known:
        missing.append(ASK_TORCH)
    if not any(g.compute_capability for g in s.machine.gpus):
        missing.append(ASK_GPU)
    if not s.driver.known:
        missing.append(ASK_DRIVER)
    if s.served:
        missing = [ASK_TORCH]
        headline = f"{s.torch.shown} has code for {gpu_words(s.machine.gpus)}: another torch is imported, or an extension raised this"
    else:
        headline = "which torch is imported, and on which GPU, is not known well enough to say why there is no code"
    return Finding(
        code="unknown",
        headline=headline,
        certainty="low",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        missing=tuple(missing or [ASK_TORCH]),
    )


def vendor_needed(s: Situation) -> Finding | None:
    """A Jetson board with a public wheel, or an AMD GPU on Windows: only the vendor has builds."""
    tegra = s.machine.tegra or any(
        g.compute_capability in s.rulebook.tegra_capabilities for g in s.machine.gpus if g.compute_capability
    )
    amd_windows = s.machine.vendor == "amd" and s.machine.os == "windows"
    if not (tegra or amd_windows) or s.torch.vendor or s.served or "nv" in s.torch.text:
        return None
    if amd_windows and s.torch.accelerator == "rocm":
        return None
    if amd_windows:
        headline = "PyTorch publishes no build for an AMD GPU on Windows"
        fix = Fix(
            text="take AMD's own ROCm wheels for Windows (its PyTorch on Windows pages), or Linux with a rocm build"
        )
    else:
        headline = f"only NVIDIA's own builds serve this board; {s.torch.shown if s.torch.known else 'a public wheel'} does not"
        fix = Fix(
            text="take the wheel that NVIDIA builds for this board's JetPack, and hold it by a constraint on its exact version",
            commands=("cat /etc/nv_tegra_release",),
        )
    return Finding(
        code="vendor-index-needed", headline=headline, certainty="high", evidence=tuple(facts_of(s)), fixes=(fix,)
    )


def wrong_accelerator(s: Situation) -> Finding | None:
    """A build for another accelerator than the one that is there."""
    kind, vendor = s.torch.accelerator, s.machine.vendor
    if s.machine.os == "macos" and s.evidence.has("not-compiled", "cuda-unavailable", "no-driver"):
        return _mac(s)
    if kind in ("rocm", "xpu") and vendor in ("nvidia", None) and (s.evidence.host.gpu_claimed or s.is_failing):
        if kind == "rocm" and vendor is None and s.evidence.has("no-gpus"):
            return None
        return _accelerator(s, f"{s.torch.shown} is a build for {_SPOKEN[kind]}, the GPU is NVIDIA's")
    if kind == "cuda" and vendor in ("amd", "intel"):
        return _accelerator(
            s, f"{s.torch.shown} is a build for NVIDIA, the GPU is {'AMD' if vendor == 'amd' else 'Intel'}'s"
        )
    if kind == "" and s.evidence.has("no-driver") and vendor in ("amd", "intel"):
        return _accelerator(s, f"torch is a build for NVIDIA, the GPU is {'AMD' if vendor == 'amd' else 'Intel'}'s")
    if (
        kind == "cpu"
        and vendor == "amd"
        and s.machine.os == "linux"
        and s.evidence.has("not-compiled", "cuda-unavailable")
    ):
        return _accelerator(s, f"{s.torch.shown} is the CPU build, the AMD GPU needs a rocm build")
    return None


def no_such_gpu(s: Situation) -> Finding | None:
    """A CUDA build where there is no NVIDIA GPU at all."""
    if s.torch.accelerator != "cuda" or not s.evidence.host.gpu_absent or s.machine.gpus or s.evidence.host.container:
        return None
    return _accelerator(s, f"{s.torch.shown} is a build for CUDA, and there is no NVIDIA GPU")


def _mac(s: Situation) -> Finding:
    return Finding(
        code="wrong-accelerator",
        headline="there is no CUDA on a Mac: the program asks for an accelerator that this system does not have",
        certainty="high",
        evidence=tuple([*quoted(s.evidence.all("not-compiled", "cuda-unavailable")[:1]), *facts_of(s)]),
        fixes=(Fix(text='use the device "mps" on Apple Silicon, "cpu" elsewhere; no other torch build changes this'),),
    )


def _accelerator(s: Situation, headline: str) -> Finding:
    fixes = other_build(s, torch=same_version(s))
    if s.evidence.torch.available is False and s.torch.accelerator == "rocm":
        lower = re.search(r"torch\s?>=?\s?[\d.]+\+cu", s.evidence.text)
        if lower:
            text = "pin exactly (==): with >= a local label does not hold, and labels sort as text"
            fixes.insert(0, Fix(text=text))
    return Finding(
        code="wrong-accelerator",
        headline=headline,
        certainty="high",
        evidence=tuple([*quoted(s.evidence.all("no-driver", "not-compiled")[:1]), *facts_of(s)]),
        fixes=tuple(fixes),
    )


def cpu_build(s: Situation) -> Finding | None:
    """The CPU build, though a GPU is to be used."""
    e = s.evidence
    said = e.first("not-compiled")
    if s.torch.accelerator != "cpu" and said is None:
        return None
    if said is not None and s.torch.accelerator == "cuda" and s.torch.certain:
        return None
    if not s.gpu_wanted:
        return None
    if e.has("no-permission") and not s.machine.gpus and not s.driver.known and said is None:
        return None
    why, fixes = _why_cpu(s)
    return Finding(
        code="cpu-build",
        headline=f"{s.torch.shown} is the CPU build{why}",
        certainty="high" if s.torch.certain or said else "medium",
        evidence=tuple([*quoted([said, e.first("cuda-unavailable")]), *facts_of(s)]),
        fixes=tuple(fixes),
        fine=("driver and toolkit do not matter for this: the build has no CUDA code at all",),
    )


def _why_cpu(s: Situation) -> tuple[str, list[Fix]]:
    """What chose the CPU build, and the way to the right one."""
    text = s.evidence.text
    if re.search(r"platform_machine == ['\"]x86_64['\"]", text) and s.machine.os == "windows":
        fix = Fix(
            text="Windows calls the processor AMD64: let the marker accept both spellings",
            commands=("marker = \"platform_machine == 'x86_64' or platform_machine == 'AMD64'\"", "uv lock && uv sync"),
        )
        return ": the marker of its source never holds on Windows, which says AMD64", [fix]
    if (
        re.search(r"sys_platform == ['\"]linux['\"]|platform_system == ['\"]Linux['\"]", text)
        and s.machine.os == "windows"
    ):
        fix = Fix(
            text="extend the marker of the CUDA source to Windows (triton stays Linux only)",
            commands=("marker = \"sys_platform == 'linux' or sys_platform == 'win32'\"", "uv lock && uv sync"),
        )
        return ": the CUDA source in pyproject.toml applies to Linux only", [fix]
    if re.search(r"cpuonly", text):
        return ": the conda package cpuonly asks for it", [
            Fix(text="make a new environment without cpuonly"),
            *other_build(s, torch=same_version(s)),
        ]
    if re.search(r"whl/cpu\b|pytorch-cpu\b|torch-backend[= ]cpu", text):
        return ": the cpu index was given", other_build(s, torch=same_version(s))
    if s.torch.distributor == "conda":
        fix = Fix(
            text="have the solver believe in a GPU where it cannot see one",
            commands=("CONDA_OVERRIDE_CUDA=12.8 conda create -n NAME pytorch",),
        )
        return ": conda's solver saw no CUDA driver", [fix, *other_build(s, torch=same_version(s))]
    if s.machine.os == "windows":
        return ": on Windows the default Python index has no other", other_build(s, torch=same_version(s))
    if s.machine.arch == "aarch64":
        return ": for aarch64 the default Python index had no other", other_build(s, torch=same_version(s))
    return "", other_build(s, torch=same_version(s))
