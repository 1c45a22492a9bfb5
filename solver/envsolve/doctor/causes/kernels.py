"""Kernels: the build, or a library of it, has no code for a GPU in use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.version import Version

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import (
    ASK_DRIVER,
    ASK_GPU,
    ASK_TORCH,
    choose,
    other_build,
    planned,
    same_version,
    ways_to,
)
from envsolve.doctor.offers import python_serves
from envsolve.doctor.situation import Situation
from envsolve.doctor.ways_out import remedies
from envsolve.doctor.wording import gpu_words, python_of
from envsolve.doctor.write import finding, fix
from envsolve.dotted import Dotted
from envsolve.judge.kernels import best_cubin
from envsolve.judge.rocm import rocm_fit
from envsolve.rulebook.tables import Build

_SAID = ("not-compatible", "gpu-too-old", "requires-cuda")
_KERNEL = (
    *_SAID, "no-kernel-image", "arch-mismatch", "invalid-device-function", "bad-image", "no-sdpa-kernel",
)  # fmt: skip
_LIBRARY = {
    "triton-gpu-old": "triton (torch.compile) serves no GPU this old",
    "ptxas-target": "triton's ptxas does not know this GPU yet",
    "nvrtc-target": "the CUDA of this build (nvrtc) does not know this GPU",
}
_PROVES_NOTHING = "is_available() is True with any driver and card: it proves nothing about kernels"


def no_kernels(s: Situation) -> Finding | None:
    """No code for the GPU, by torch's own warning, by the rules, or by a library's message."""
    e = s.evidence
    said, refusal = e.first(*_SAID) or _below_the_range(s), s.refusal("no-kernels")
    if s.torch.accelerator in ("cpu", "xpu") or (refusal is None and said is not None and e.torch.computed):
        return None
    if refusal is None and (said is None or false_alarm(s)) and not s.toolkit_lacks:
        return _library(s)
    shown = said or e.first(*_KERNEL)
    sure = shown is not None or (s.torch.build is not None and s.torch.build.certainty == "high")
    return finding(
        s,
        "no-kernels",
        f"{s.torch.shown} has no code for {_unserved(s)}",
        shown=[shown],
        more=[*([refusal.text] if refusal else []), *filter(None, [s.toolkit_lacks])],
        fixes=_fixes(s),
        certainty="high" if sure else "medium",
        fine=[_PROVES_NOTHING] if e.torch.available else [],
    )


def false_alarm(s: Situation) -> bool:
    """Whether torch warns of a GPU that code in its own list runs on, and nothing has failed."""
    failed = s.evidence.has("no-kernel-image", "arch-mismatch", "invalid-device-function", "bad-image", "traceback")
    listed = bool(s.evidence.torch.targets) and s.served is True and s.fit is not None and not s.fit.refusals
    return s.evidence.has("not-compatible") and listed and not failed


def _below_the_range(s: Situation) -> Symptom | None:
    """torch's own warning that its code begins above a GPU: code for a newer GPU never runs on an older one."""
    ranges = s.evidence.all("capability-range")
    return next((x for x in ranges if Dotted.parse(x.get("capability")) < Dotted.parse(x.get("low"))), None)


def _unserved(s: Situation) -> str:
    bad = [gpu for gpu, fit in zip(s.machine.gpus, s.gpu_fits, strict=False) if fit.verdict == "unsupported"]
    return gpu_words(bad or s.machine.gpus)


def _fixes(s: Situation) -> Iterator[Fix]:
    found = planned(s, torch=same_version(s))
    if found is not None:
        yield from ways_to(found, s, "which has code for it")
    else:
        yield from _variants_with_code(s)
    if s.evidence.host.container:
        yield fix("or take another image, or another type of GPU")


def _variants_with_code(s: Situation) -> Iterator[Fix]:
    """Builds with code for every GPU where no plan can be made (the driver is not known, say)."""
    capabilities = [g.compute_capability for g in s.machine.gpus if g.compute_capability]
    tegra = s.rulebook.tegra_capabilities
    builds = [
        build
        for build in s.rulebook.builds_on(s.machine.platform)
        if build.advertised and capabilities and all(best_cubin(build, c, tegra) for c in capabilities)
    ]
    here = [build for build in builds if python_serves(s, [build])]
    if builds and not here:
        first = min(build.python[0] for build in builds)
        yield fix(f"builds with code for it have no file for {python_of(s.evidence)}: take Python {first} or newer")
    builds = here or builds
    if capabilities and not builds:
        yield from remedies(s)
        if len(set(capabilities)) > 1:
            yield fix("no one build has code for all of them: an environment for each kind of GPU, or one kind alone")
            return
        text = "no published build has code for it: what is left is another GPU, or the CPU build"
        yield fix(text, "envsolve plan torch --variant cpu")
        return
    if near := _nearest(builds, s.torch.version):
        names = [f"{b.torch}+{b.variant}" for b in near[-3:]]
        verb, whose = ("has", "its") if len(names) == 1 else ("have", "their")
        yield fix(f"take torch {' or '.join(names)}, which {verb} code for it, if the driver serves {whose} CUDA")
    yield choose(s)


def _nearest(builds: Sequence[Build], version: Version | None) -> list[Build]:
    """The builds of the installed release, else of the next newer one, else of the newest."""
    torches = sorted({b.torch for b in builds})
    newer = [t for t in torches if version is not None and t >= version] or torches[-1:]
    return [b for b in builds if newer and b.torch == newer[0]]


def _library(s: Situation) -> Finding | None:
    """Not torch's own kernels, but a compiler that it brings or uses."""
    shown = s.evidence.first(*_LIBRARY)
    if shown is None:
        return None
    fixes = {
        "triton-gpu-old": [fix("run without torch.compile: eager code does not need triton")],
        "ptxas-target": [
            fix("let triton use the ptxas of a newer toolkit", "export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas")
        ],
    }.get(shown.name) or other_build(s, why="whose CUDA knows the GPU")
    return finding(s, "no-kernels", _LIBRARY[shown.name], shown=[shown], fixes=fixes)


def no_gfx_code(s: Situation) -> Finding | None:
    """A ROCm build without code for the AMD GPU."""
    if s.torch.accelerator != "rocm" or s.machine.vendor != "amd":
        return None
    shown = s.evidence.first(
        "no-kernel-image", "invalid-device-function", "bad-image", "library-failed", "rocblas-target"
    )
    build = s.torch.build
    fits = [rocm_fit(build, gpu, "", s.rulebook) for gpu in s.machine.gpus] if build else []
    refusal = next((refusal for _, refusal in fits if refusal), None)
    if shown is None and refusal is None:
        return None
    names = ", ".join(gpu.name or gpu.gfx or "the GPU" for gpu in s.machine.gpus) or "the GPU"
    newer = "take a newer rocm build, or AMD's own index, that lists this gfx target"
    pretend = "HSA_OVERRIDE_GFX_VERSION only pretends another target: faults are reported where the instructions differ"
    return finding(
        s,
        "no-kernels",
        f"{s.torch.shown} has no code for {names}",
        shown=[shown],
        more=[refusal.text] if refusal else [],
        fixes=[fix(newer, "rocminfo | grep gfx", "envsolve plan torch"), fix(pretend)],
        certainty="high" if refusal else "medium",
    )


def below_every_build(s: Situation) -> Finding | None:
    """ "no kernel image" from a torch that the rules don't know, on a card older than all code that they know."""
    shown = s.evidence.first("no-kernel-image")
    capabilities = [gpu.compute_capability for gpu in s.machine.gpus if gpu.compute_capability]
    if shown is None or s.torch.build is not None or not capabilities:
        return None
    first = min(target.capability for build in s.rulebook.builds for target in build.sm)
    old = [gpu for gpu in s.machine.gpus if gpu.compute_capability and gpu.compute_capability < first]
    if len(old) < len(capabilities):
        return None
    headline = f"no published torch that is known has code for {gpu_words(old)}: it begins with {first}"
    ways = [*remedies(s), fix("use another GPU, or the CPU build", "envsolve plan torch --variant cpu")]
    return finding(s, "no-kernels", headline, shown=[shown], fixes=ways, certainty="medium")


def _extension_in(s: Situation, shown: Symptom) -> str:
    """An extension that the very line of the error names; "" where it names none."""
    line = s.evidence.text.split("\n")[shown.line - 1]
    found = (s.facts.extension_of(word) for word in re.findall(r"[A-Za-z_][\w-]{3,}", line))
    return next((extension.package for extension in found if extension is not None), "")


def in_doubt(s: Situation) -> Finding | None:
    """ "no kernel image", and the torch or the GPU that decides is not known, or has the code by the rules."""
    shown = s.evidence.first("no-kernel-image", "invalid-device-function", "bad-image", "arch-mismatch")
    if shown is None:
        return None
    headline = "which torch is imported, and on which GPU, is not known well enough to say why there is no code"
    missing = []
    if s.served and shown.name == "arch-mismatch":
        headline = "cuBLAS has no such computation for this GPU (bf16, fp8 and TF32 begin with newer ones)"
        way = fix("compute in float16 or float32 there; leave torch as it is")
        return finding(s, "not-torch", headline, shown=[shown], fixes=[way], certainty="medium")
    if s.served and (name := _extension_in(s, shown)):
        headline = f"{name} has no code for {gpu_words(s.machine.gpus)}; {s.torch.shown} has"
        way = fix(f"take a build of {name} for this GPU, or compile it here; leave torch as it is")
        return finding(s, "foreign-extension", headline, shown=[shown], fixes=[way], certainty="medium")
    if s.served:
        which = f"{s.torch.shown} has code for {gpu_words(s.machine.gpus)}"
        headline = f"{which}: another torch is imported, or an extension raised this"
    elif s.torch.build is not None and s.torch.build.targets_known:
        missing += [] if any(g.compute_capability for g in s.machine.gpus) else [ASK_GPU]
    if not s.driver.known and not s.served:
        missing.append(ASK_DRIVER)
    if s.served or s.torch.build is None or not s.torch.build.targets_known:
        missing.insert(0, ASK_TORCH)
        missing += [] if any(g.compute_capability for g in s.machine.gpus) else [ASK_GPU]
    return finding(s, "unknown", headline, shown=[shown], certainty="low", missing=missing or [ASK_TORCH])
