"""Ways out beside another wheel of the PyTorch index: the vendor's builds, a build from source."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envsolve.capability import Capability
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of, mismatch, too_old
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.loosen import without_labels
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.resolve.survey import survey
from envsolve.resolve.wanted import Wanted, read_wanted
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build


def outside_remedies(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The vendor's index for integrated boards and for AMD; a source build where a toolkit targets the GPU."""
    capabilities = {g.compute_capability for g in machine.gpus if g.compute_capability is not None}
    if capabilities & rulebook.tegra_capabilities:
        text = "the wheels that NVIDIA builds for this board's JetPack: see NVIDIA's PyTorch for Jetson pages"
        yield Remedy(code="vendor-index", text=text)
    elif vendor_of(machine) == "amd":
        yield from _amd_index(machine)
    elif vendor_of(machine) == "nvidia" and capabilities and machine.os != "macos":
        yield from _source_build(machine, request, capabilities, rulebook)


def _amd_index(machine: Machine) -> Iterator[Remedy]:
    """AMD's own wheels: on Windows the only ones; on Linux where they have a target that PyTorch's lack."""
    from envsolve.rulebook.load import load_document  # this table is for people; only a few answers need it

    targets = {g.gfx for g in machine.gpus if g.gfx is not None}
    for address, row in load_document("details").get("amd_indexes", {}).items():
        listed = set((row.get("gfx") or "").split())
        if ("Windows" in address) != (machine.os == "windows") or not targets <= listed:
            continue
        if targets or machine.os == "windows":
            holds = f" ({row['torch']})" if row.get("torch") else ""
            yield Remedy(code="vendor-index", text=f"AMD's own ROCm wheels{holds}: {address}")
            return
    if machine.os == "windows":
        yield Remedy(code="vendor-index", text="AMD's own ROCm wheels for Windows: see AMD's PyTorch on Windows pages")


def _source_build(
    machine: Machine, request: Request, capabilities: set[Capability], rulebook: Rulebook
) -> Iterator[Remedy]:
    """The newest torch that the pins take, with a CUDA whose nvcc targets every GPU and which this driver runs."""
    driver = driver_of(machine, rulebook)
    if any(mismatch(driver, c, rulebook) for c in capabilities):
        return
    if not _kernels_are_the_trouble(machine, request, rulebook):
        return
    wanted = read_wanted(without_labels(request))
    if machine.os == "linux" and machine.arch == "x86_64":
        yield from _recipe(machine, request, wanted, rulebook)
        return
    for build in reversed(rulebook.builds_on(machine.platform)):
        if build.cuda is None or too_old(driver, build.cuda, rulebook):
            continue
        if wanted.accepts("torch", build.torch, "") and _can_compile(build, capabilities, rulebook):
            targets = ";".join(str(c) for c in sorted(capabilities))
            text = f"PyTorch {build.torch} from source with CUDA {build.cuda} for {targets}: hours of compiling"
            yield Remedy(code="source-build", text=text)
            return


def _recipe(machine: Machine, request: Request, wanted: Wanted, rulebook: Rulebook) -> Iterator[Remedy]:
    """What `envsolve source-build` would write; it writes for Linux on x86-64 alone."""
    from envsolve.ways.source_build import newest_recipe  # its rules are read only where compiling is the way

    found = newest_recipe(machine, rulebook, accepts=lambda torch: wanted.accepts("torch", torch, ""))
    if found is None:
        return
    targets = ";".join(str(c) for c in found.capabilities)
    text = f"PyTorch {found.torch} from source with CUDA {found.toolkit.cuda} for {targets}: hours of compiling"
    target = ["--target", request.target] if request.target else []
    command = shlex.join(["envsolve", "source-build", "--torch", str(found.torch), *target])
    yield Remedy(code="source-build", text=text, command=command)


def _can_compile(build: Build, capabilities: set[Capability], rulebook: Rulebook) -> bool:
    reach = rulebook.toolkit_ranges.get(build.cuda) if build.cuda is not None else None
    return reach is not None and all(reach.covers(c) for c in capabilities)


def _kernels_are_the_trouble(machine: Machine, request: Request, rulebook: Rulebook) -> bool:
    """Whether nothing but kernels, or the wheels' glibc, stands between this machine and some torch that is allowed."""
    torch_alone = tuple(r for r in request.requirements if canonicalize_name(r.name) == "torch")
    found = survey(machine, without_labels(replace(request, requirements=torch_alone)), rulebook)
    mended = {"no-kernels", "ptx-needs-newer-driver", "glibc-too-old", "musl"}
    return not found.running and any(all(r.code in mended for r in row.refusals) for row in found.refused)
