"""The judge: one build on one machine, every refusal with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.capability import Capability
from envsolve.judge import driver as drivers
from envsolve.judge.accelerator import SERVES, accelerator_refusal, vendor_of
from envsolve.judge.fit import Fit, GpuFit, Refusal, Verdict
from envsolve.judge.host import libc_refusal, python_refusal
from envsolve.judge.kernels import best_cubin, best_ptx
from envsolve.machine.machine import Gpu, Machine
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build

# The decisive reason comes first: what no change of version or Python could mend before what one could.
_ORDER = (
    "musl", "wrong-accelerator", "vendor-index-needed", "driver-too-new", "gpu-driver-mismatch", "no-kernels",
    "driver-too-old", "ptx-needs-newer-driver", "glibc-too-old", "python-unsupported",
)  # fmt: skip


@record
class Case:
    """What stays the same while many builds are judged: the machine with the chosen GPUs, each with a capability.

    `asked` = the user named this variant (by --variant or a label); `exact` = the user pinned torch to one version;
    `cpu_will_do` = no build of any other kind serves these GPUs, so that a CPU build is no silent loss.
    """

    machine: Machine
    driver: drivers.Driver
    rulebook: Rulebook
    python: str
    asked: bool = False
    exact: bool = False
    cpu_will_do: bool = False


def judge(build: Build, case: Case) -> Fit:
    """The fit of one build: a verdict for each GPU, and every refusal, the decisive one first."""
    judged: list[tuple[GpuFit, list[Refusal]]] = []
    refusals = list(_host_refusals(build, case))
    if SERVES.get(build.accelerator) == vendor_of(case.machine):
        judged = [_judge_gpu(build, gpu, position, case) for position, gpu in enumerate(case.machine.gpus)]
        refusals += [r for _, found in judged for r in found]
        refusals += _driver_refusals(build, case)
    ordered = sorted(_distinct(refusals), key=lambda r: _ORDER.index(r.code)) if len(refusals) > 1 else refusals
    gpus = tuple(fit for fit, _ in judged)
    return Fit(build=build, gpus=gpus, refusals=tuple(ordered), within_driver_cuda=_within(build, case))


def _host_refusals(build: Build, case: Case) -> Iterator[Refusal]:
    accelerator = None
    if not (case.cpu_will_do and build.accelerator == "cpu"):
        accelerator = accelerator_refusal(build, case.machine, asked=case.asked)
    for refusal in (accelerator, libc_refusal(build, case.machine), python_refusal(build, case.python)):
        if refusal is not None:
            yield refusal


def _driver_refusals(build: Build, case: Case) -> Iterator[Refusal]:
    if build.cuda is not None and (text := drivers.too_old(case.driver, build.cuda, case.rulebook)):
        yield Refusal(code="driver-too-old", text=text, blames=("driver",))


def _judge_gpu(build: Build, gpu: Gpu, position: int, case: Case) -> tuple[GpuFit, list[Refusal]]:
    name = gpu.name or gpu.gfx or f"GPU {position if gpu.index is None else gpu.index}"
    if build.accelerator == "cuda":
        return _judge_nvidia(build, gpu, name, case)
    if build.accelerator == "mps":
        return GpuFit(gpu=name, verdict="native", code="mps"), []
    fit, refusal = _judge_other(build, gpu, name, case.rulebook)
    return fit, [refusal] if refusal else []


def _judge_other(build: Build, gpu: Gpu, name: str, rulebook: Rulebook) -> tuple[GpuFit, Refusal | None]:
    if build.accelerator == "rocm":
        from envsolve.judge.rocm import rocm_fit  # most plans never need either

        return rocm_fit(build, gpu, name, rulebook)
    from envsolve.judge.xpu import xpu_fit

    return xpu_fit(build, gpu, name, rulebook)


def _judge_nvidia(build: Build, gpu: Gpu, name: str, case: Case) -> tuple[GpuFit, list[Refusal]]:
    capability = gpu.compute_capability
    if capability is None:
        return GpuFit(gpu=name, verdict="unknown", code=""), []
    clash = drivers.mismatch(case.driver, capability, case.rulebook)
    refusals = [Refusal(code=clash[0], text=clash[1], blames=("gpu", "driver"))] if clash else []
    if not build.targets_known:
        return GpuFit(gpu=name, verdict="unknown", code=""), refusals
    verdict, code, refusal = _kernels(build, capability, case)
    return GpuFit(gpu=name, verdict=verdict, code=code), [*refusals, refusal] if refusal else refusals


def _kernels(build: Build, capability: Capability, case: Case) -> tuple[Verdict, str, Refusal | None]:
    if cubin := best_cubin(build, capability, case.rulebook.tegra_capabilities):
        return ("native" if cubin.capability == capability else "compatible"), str(cubin), None
    if capability in case.rulebook.tegra_capabilities:
        text = f"only the board vendor's builds serve {capability} (has {_listed(build)})"
        return "unsupported", "", Refusal(code="vendor-index-needed", text=text, blames=("gpu",))
    ptx = best_ptx(build, capability)
    if ptx is None:
        text = f"no kernels for {capability} (has {_listed(build)})"
        return "unsupported", "", Refusal(code="no-kernels", text=text, blames=("gpu",))
    return "jit", str(ptx), _jit_refusal(build, capability, str(ptx), case)


def _jit_refusal(build: Build, capability: Capability, ptx: str, case: Case) -> Refusal | None:
    if not jit_proven(build, capability, case.rulebook) and not case.exact:
        doubt = f"{ptx} by JIT is unproven: CUDA {build.cuda} predates this GPU"
        text = f"no kernels for {capability} (has {_listed(build)}; {doubt})"
        return Refusal(code="no-kernels", text=text, blames=("gpu",))
    cuda = case.driver.cuda
    if build.cuda is not None and cuda is not None and cuda < build.cuda:
        text = f"only {ptx}, which needs a driver with CUDA {build.cuda} to compile, this one has {cuda}"
        return Refusal(code="ptx-needs-newer-driver", text=text, blames=("driver",))
    return None


def jit_proven(build: Build, capability: Capability, rulebook: Rulebook) -> bool:
    """Whether the build's toolkit knows this GPU's major at all: its cuBLAS and cuDNN are as old as it."""
    reach = rulebook.toolkit_ranges.get(build.cuda) if build.cuda is not None else None
    return reach is not None and reach.last.major >= capability.major


def _listed(build: Build) -> str:
    return " ".join(f"{t.capability}{t.suffix}" for t in build.sm) or "none"


def _within(build: Build, case: Case) -> bool:
    if build.cuda is None or case.driver.cuda is None:
        return True
    return build.cuda <= case.driver.cuda


def _distinct(refusals: list[Refusal]) -> list[Refusal]:
    return list(dict.fromkeys(refusals))
