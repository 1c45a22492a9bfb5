"""Row: one (torch, variant) that the request allows, with its companions, judged."""

from __future__ import annotations

from packaging.version import Version

from envsolve.judge.fit import Fit, Refusal
from envsolve.record import record
from envsolve.rulebook.tables import Build

_VERDICTS = {"native": 3, "compatible": 2, "jit": 1, "unknown": 0, "unsupported": 0}
_ACCELERATORS = {"cuda": 4, "rocm": 3, "xpu": 2, "mps": 1, "cpu": 0}


@record
class PlannedPackage:
    """A package of the torch family, at an exact version. `local_tag` False = the file carries no +variant."""

    name: str
    version: Version  # public
    local_tag: bool
    certain: bool  # known on this variant's index with medium or high certainty

    def label(self, variant: str) -> str:
        """The version as the file has it: 2.11.0+cu128, or 2.11.0 for an unlabelled file."""
        return f"{self.version}+{variant}" if self.local_tag else str(self.version)


@record
class Row:
    """A judged build with its companions. `refusals` holds the judge's and the companions', the decisive one first."""

    fit: Fit
    packages: tuple[PlannedPackage, ...]
    refusals: tuple[Refusal, ...]

    @property
    def build(self) -> Build:
        return self.fit.build

    @property
    def runs(self) -> bool:
        return not self.refusals

    @property
    def certain(self) -> bool:
        """Advertised by PyTorch, and held by the rules with medium or high certainty, companions included."""
        build = self.build
        known = build.advertised and build.certainty != "low" and build.targets_known
        known = known and (build.gfx_certainty != "low" or not self.fit.gpus)
        return known and all(p.certain for p in self.packages)

    @property
    def rank(self) -> tuple[bool, Version, int, bool, int, tuple[int, ...]]:
        """The order of choice, highest first: certain rows, newest torch, native > compatible > jit, within the
        driver's own CUDA, newest variant (as numbers, never as text)."""
        build = self.build
        worst = min((_VERDICTS[g.verdict] for g in self.fit.gpus), default=3)
        return (
            self.certain,
            build.torch,
            worst,
            self.fit.within_driver_cuda,
            _ACCELERATORS[build.accelerator],
            variant_number(build),
        )


def variant_number(build: Build) -> tuple[int, ...]:
    """The number in a variant's name: cu130 -> (13,), rocm6.2.4 -> (6, 2, 4), cpu -> ()."""
    if build.cuda is not None:
        return build.cuda.parts
    digits = build.variant.lstrip("abcdefghijklmnopqrstuvwxyz")
    return tuple(int(p) for p in digits.split(".") if p.isdigit())
