"""Situation: the evidence with what the rules make of it. Causes look here; nothing is decided twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from packaging.version import Version

from envsolve.doctor.evidence import Evidence, Installed
from envsolve.doctor.facts import Facts
from envsolve.doctor.torch_state import Torch, default_variant, public, torch_of, variant_of_build, variant_of_label
from envsolve.judge.driver import Driver, driver_of
from envsolve.judge.fit import Fit, GpuFit, Refusal
from envsolve.judge.identify import identify
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.rulebook.rulebook import Rulebook

_COMPANIONS = ("torchvision", "torchaudio")


@record
class Companion:
    """An installed torchvision or torchaudio: the version and variant as far as they are known."""

    name: str
    text: str
    version: Version | None
    variant: str
    belongs: bool | None  # None = the rules don't know this torch
    wanted: tuple[Version, ...]


# No slots: what is derived once is kept.
@dataclass(frozen=True, eq=False)
class Situation:
    """One environment in the light of the rules."""

    evidence: Evidence
    rulebook: Rulebook
    facts: Facts

    @cached_property
    def torch(self) -> Torch:
        """The installed torch."""
        return torch_of(self.evidence, self.rulebook)

    @cached_property
    def machine(self) -> Machine:
        """The machine with a capability for every GPU whose name tells it."""
        machine = self.evidence.machine
        gpus = tuple(identify(gpu, self.rulebook).gpu for gpu in machine.gpus)
        vendor = "nvidia" if gpus and machine.vendor is None else machine.vendor
        return replace(machine, gpus=gpus, vendor=vendor)

    @cached_property
    def driver(self) -> Driver:
        """The driver, its branch and its CUDA."""
        return driver_of(self.machine, self.rulebook)

    @cached_property
    def fit(self) -> Fit | None:
        """The installed build judged on the machine; None where torch is not known, or is no CUDA build."""
        build = self.torch.build
        if build is None or build.accelerator != "cuda" or self.machine.vendor not in ("nvidia", None):
            return None
        python = f"{build.python[0]}"
        return judge(build, Case(machine=replace(self.machine, vendor="nvidia"), driver=self.driver,
                                 rulebook=self.rulebook, python=python, asked=True))  # fmt: skip

    def refusal(self, *codes: str) -> Refusal | None:
        """Why the judge refuses the installed build, if it does for one of these."""
        return next((r for r in self.fit.refusals if r.code in codes), None) if self.fit else None

    @cached_property
    def served(self) -> bool | None:
        """Whether the installed torch has code for every GPU in use; None = not known.

        A result that came from the GPU proves it, whatever the lists say.
        """
        if self.evidence.torch.computed:
            return True
        if self.toolkit_lacks:
            return False
        if self.fit is None or not self.fit.gpus or any(g.verdict == "unknown" for g in self.fit.gpus):
            return None
        return self.refusal("no-kernels", "vendor-index-needed") is None

    @cached_property
    def toolkit_lacks(self) -> str:
        """Why a build whose kernels nobody has read can have none for a GPU: its CUDA is older than the GPU's kind."""
        build, cuda = self.torch.build, self.torch.cuda
        if cuda is None or (build is not None and build.targets_known):
            return ""
        reach = self.rulebook.toolkit_ranges.get(cuda)
        for gpu in self.machine.gpus:
            if reach and gpu.compute_capability and gpu.compute_capability.major > reach.last.major:
                return f"CUDA {cuda} can make code for up to {reach.last}, the GPU has {gpu.compute_capability}"
        return ""

    @property
    def gpu_fits(self) -> tuple[GpuFit, ...]:
        """How each GPU runs the installed build."""
        return self.fit.gpus if self.fit else ()

    @cached_property
    def companions(self) -> tuple[Companion, ...]:
        """The installed torchvision and torchaudio."""
        return tuple(self._companions())

    def _companions(self) -> Iterator[Companion]:
        row = self.rulebook.companions.get(self.torch.version) if self.torch.version else None
        for name in _COMPANIONS:
            installed = self.evidence.installed.get(name)
            version = public(installed.version) if installed else None
            if installed is None or version is None:
                continue
            wanted = row.versions.get(name, ()) if row else ()
            yield Companion(
                name=name,
                text=installed.version,
                version=version,
                variant=self._companion_variant(installed),
                belongs=version in wanted if wanted else None,
                wanted=wanted,
            )

    def _companion_variant(self, installed: Installed) -> str:
        """The label, conda's build, or for a plain version what its torch is on the default Python index."""
        found = variant_of_label(installed.label) or variant_of_build(installed.build)
        if found or installed.build or "os" not in self.evidence.host.known:
            return found
        labelled = variant_of_label(self.torch.text.partition("+")[2])
        version = public(installed.version)
        torch = self.torch_for(installed.name, version) if version else None
        # Without a label on torch either, both came from the same place as far as anybody can tell.
        return default_variant(torch, self.machine.platform, self.rulebook) if torch and labelled else ""

    def torch_for(self, companion: str, version: Version) -> Version | None:
        """The newest torch that a companion's version belongs to."""
        found = [t for t, row in self.rulebook.companions.items() if version in row.versions.get(companion, ())]
        return max(found, default=None)

    @property
    def gpu_wanted(self) -> bool:
        """Whether a GPU is to be used: one is there, or the text asks for one."""
        host = self.evidence.host
        if host.gpu_absent and not self.machine.gpus:
            return False
        return (
            host.gpu_claimed
            or self.evidence.torch.available is False
            or self.evidence.has("not-compiled", "cuda-unavailable", "cuda-state-dict")
        )

    @property
    def is_failing(self) -> bool:
        """Whether anything in the evidence went wrong."""
        said = self.evidence.torch
        return said.available is False or self.evidence.has("traceback", "error-line", "no-kernel-image")
