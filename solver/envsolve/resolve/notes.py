"""Notes: what to know about a plan that works."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envsolve.capability import Capability
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import Driver, branch_limits, branch_of, driver_of, floor
from envsolve.judge.fit import Note
from envsolve.judge.judge import jit_proven
from envsolve.judge.kernels import best_cubin
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.numpy_rule import numpy_cap
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import Survey, survey
from envsolve.resolve.wanted import read_wanted
from envsolve.rulebook.extension_names import may_be_known
from envsolve.rulebook.rulebook import Rulebook


def notes_for(machine: Machine, request: Request, row: Row, found: Survey, rulebook: Rulebook) -> tuple[Note, ...]:
    """All notes on the chosen row, what matters most first."""
    makers = (_jit, _driver, _last_release, _certainty, _host, _accelerator, _no_gpu, _other_gpus, _numpy, _passed_over)
    notes = [note for make in makers for note in make(machine, row, found, rulebook)]
    if request.source == "pypi":
        notes += _newer_elsewhere(machine, request, row, rulebook)
    others = read_wanted(request).others
    if may_be_known(canonicalize_name(requirement.name) for requirement in others):
        from envsolve.resolve.extension_notes import extension_notes  # few requests name such libraries

        notes += extension_notes(machine, request, others, row, found)
    return tuple(notes)


def _jit(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    jitted = [g for g in row.fit.gpus if g.verdict == "jit"]
    for gpu in jitted:
        text = f"{gpu.gpu}: the driver compiles {gpu.code} at first use; that takes minutes once and is cached"
        yield Note(code="jit", text=text)
    capabilities = [g.compute_capability for g in machine.gpus if g.compute_capability is not None]
    if jitted and not all(jit_proven(row.build, c, rulebook) for c in capabilities):
        text = f"CUDA {row.build.cuda} predates this GPU: its cuBLAS and cuDNN may fail; used for the exact pin only"
        yield Note(code="jit-unproven", text=text)


def _accelerator(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    """What goes without saying for CUDA, and does not for the others."""
    metal = any(gpu.code == "mps" for gpu in row.fit.gpus)
    accelerator = "mps" if metal else row.build.accelerator
    if accelerator not in ("cuda", "cpu"):
        from envsolve.rulebook.ways_tables import load_ways
        from envsolve.ways.accelerators import accelerator_note

        yield accelerator_note(accelerator, load_ways())


def _driver(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    if not row.fit.gpus or row.build.cuda is None:
        return
    if not row.fit.within_driver_cuda:
        spoken = driver_of(machine, rulebook).cuda
        told = f"the wheel brings CUDA {row.build.cuda}, the driver speaks {spoken}"
        text = f"{told}: it runs by minor-version compatibility (one CUDA major)"
        yield Note(code="minor-version-compatibility", text=text)
    driver = driver_of(machine, rulebook)
    lowest = floor(row.build.cuda, rulebook, windows=driver.windows)
    if lowest is not None and driver.names_only_the_branch_of(lowest):
        text = f"driver {driver.version} names a branch only: {lowest} or newer is assumed"
        yield Note(code="driver-assumed", text=text)
    yield from _doubtful_driver(machine, driver, rulebook)
    if machine.driver is not None and machine.cuda_max is not None:
        branch = branch_of(machine.driver, rulebook)
        own = rulebook.branches[branch].cuda if branch is not None else None
        if own is not None and own.major != machine.cuda_max.major:
            text = f"driver {machine.driver} speaks CUDA {own}, yet CUDA {machine.cuda_max} was reported (cuda-compat?)"
            yield Note(code="driver-cuda-disagree", text=text)


def _doubtful_driver(machine: Machine, driver: Driver, rulebook: Rulebook) -> Iterator[Note]:
    """Where only an unsure rule says that this driver is too old for a card."""
    for capability in dict.fromkeys(g.compute_capability for g in machine.gpus):
        first, _ = branch_limits(capability, rulebook) if capability is not None else (None, None)
        if first is not None and driver.branch is not None and driver.branch < first:
            text = f"{capability} may need driver branch R{first}, this is {driver}: if CUDA fails, update the driver"
            yield Note(code="driver-doubtful", text=text)


def _last_release(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    """Said only where a newer torch exists on this platform that has no kernels for the card."""
    builds = [b for b in rulebook.cuda_builds_on(machine.platform) if b.targets_known]
    newest = max((b.torch for b in builds), default=None)
    for capability in dict.fromkeys(g.compute_capability for g in machine.gpus):
        if capability is None:
            continue
        served = [b.torch for b in builds if best_cubin(b, capability, rulebook.tegra_capabilities)]
        if served and newest is not None and max(served) < newest:
            yield Note(code="last-release", text=_last_text(capability, str(max(served)), rulebook))


def _last_text(capability: Capability, last: str, rulebook: Rulebook) -> str:
    _, branch = branch_limits(capability, rulebook)
    driver = f"; do not go past driver branch R{branch}" if branch is not None else ""
    return f"torch {last} is the last release with kernels for {capability}{driver}"


def _certainty(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    build = row.build
    if not build.targets_known:
        yield Note(code="targets-unknown", text="nobody has read this build's kernel list yet: verify it on the GPU")
    if build.gfx_certainty == "low" and row.fit.gpus:
        yield Note(code="low-certainty", text=f"which AMD targets {build.variant} {build.torch} serves is not sure")
    if not build.advertised:
        yield Note(code="unadvertised", text=f"{build.variant} of torch {build.torch} is published but not advertised")
    if build.certainty == "low":
        yield Note(
            code="low-certainty", text=f"the rules are not sure of {build.variant} {build.torch}: {build.source}"
        )
    for package in row.packages[1:]:
        if not package.certain:
            text = f"{package.name} {package.version} was not seen on the {build.variant} index; lock will tell"
            yield Note(code="companion-unseen", text=text)


def _host(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    if machine.os == "linux" and row.build.glibc_min is not None:
        known = machine.libc is not None and machine.libc.version is not None
        if not known:
            yield Note(code="libc-assumed", text=f"glibc {row.build.glibc_min} or newer is assumed")
    if machine.assumed:
        text = f"{', '.join(machine.assumed)}: not in the target, taken from this machine"
        yield Note(code="assumed", text=text)


def _no_gpu(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    vendor, kind = vendor_of(machine), row.build.accelerator
    yield from (Note(code="other-card", text=p.text) for p in machine.problems if p.code == "other-card")
    if kind == "cpu" and vendor == "none":
        yield Note(code="cpu", text="no GPU here: the CPU build")
    if kind == "cpu" and machine.gpus:
        names = ", ".join(dict.fromkeys(g.name or g.gfx or "the GPU" for g in machine.gpus))
        why = "no xpu build serves it: " if vendor == "intel" and machine.os != "macos" else ""
        yield Note(code="gpu-unused", text=f"{names}: {why}the CPU build does not use it")
    if kind in ("cuda", "rocm", "xpu") and vendor == "none":
        text = f"no GPU here: {row.build.variant} was asked for, nothing is judged against a GPU or a driver"
        yield Note(code="not-judged", text=text)


def _other_gpus(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    """What is not known of AMD's and Intel's GPUs, and what would settle it."""
    unknown = [g.gpu for g in row.fit.gpus if g.verdict == "unknown"]
    if row.build.accelerator == "rocm" and vendor_of(machine) == "amd" and not machine.gpus:
        text = "which AMD GPU it is was not said: name it, or its target (rocminfo | grep gfx), to have it judged"
        yield Note(code="gfx-unknown", text=text)
    if row.build.accelerator == "xpu" and vendor_of(machine) == "intel" and (unknown or not machine.gpus):
        text = "xpu builds serve Data Center GPU Max, Arc and Core Ultra's Arc graphics; for others give --variant cpu"
        yield Note(code="xpu-unknown", text=text)


def _numpy(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    if (cap := numpy_cap(row.build, rulebook)) is not None:
        yield Note(code="numpy-below-2", text=f"torch {row.build.torch} was built for NumPy 1: {cap} is added")


def _newer_elsewhere(machine: Machine, request: Request, row: Row, rulebook: Rulebook) -> Iterator[Note]:
    """What the plain wheels lack and the PyTorch index has for this machine."""
    running = survey(machine, replace(request, source="pytorch"), rulebook).running
    if running and running[0].build.torch > row.build.torch:
        best = running[0]
        text = f"the PyTorch index has torch {best.packages[0].label(best.build.variant)}: leave out --source pypi"
        yield Note(code="newer-elsewhere", text=text)


def _passed_over(machine: Machine, row: Row, found: Survey, rulebook: Rulebook) -> Iterator[Note]:
    newer = [r for r in found.running if r.build.torch > row.build.torch]
    if newer:
        top = max(newer, key=lambda r: r.rank[1:])
        text = f"{top.build.variant} {top.build.torch} would run, but the rules are less sure of it"
        yield Note(code="newer-unsure", text=text)
