"""Ways out beside another wheel of the PyTorch index: the vendor's builds, a build from source."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.capability import Capability
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of, mismatch, too_old
from envsolve.machine.machine import Machine
from envsolve.resolve.plan import Remedy
from envsolve.resolve.request import Request
from envsolve.rulebook.rulebook import Rulebook


def outside_remedies(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """The vendor's index for integrated boards and AMD on Windows; a source build where a toolkit targets the GPU."""
    capabilities = {g.compute_capability for g in machine.gpus if g.compute_capability is not None}
    if capabilities & rulebook.tegra_capabilities:
        text = "the wheels that NVIDIA builds for this board's JetPack: see NVIDIA's PyTorch for Jetson pages"
        yield Remedy(code="vendor-index", text=text)
        return
    if vendor_of(machine) == "amd" and machine.os == "windows":
        yield Remedy(code="vendor-index", text="AMD's own ROCm wheels for Windows: see AMD's PyTorch on Windows pages")
    if vendor_of(machine) == "nvidia" and capabilities and machine.os != "macos":
        yield from _source_build(machine, capabilities, rulebook)


def _source_build(machine: Machine, capabilities: set[Capability], rulebook: Rulebook) -> Iterator[Remedy]:
    """The newest torch published with a CUDA whose nvcc can target every GPU and which this driver can run."""
    driver = driver_of(machine, rulebook)
    if any(mismatch(driver, c, rulebook) for c in capabilities):
        return
    for build in reversed(rulebook.builds_on(machine.platform)):
        reach = rulebook.toolkit_ranges.get(build.cuda) if build.cuda is not None else None
        if reach is None or build.cuda is None or too_old(driver, build.cuda, rulebook):
            continue
        if all(reach.covers(c) for c in capabilities):
            targets = ";".join(str(c) for c in sorted(capabilities))
            text = f"PyTorch {build.torch} from source with CUDA {build.cuda} for {targets}: hours of compiling"
            yield Remedy(code="source-build", text=text)
            return
