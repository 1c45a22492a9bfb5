"""The typed tables of the rulebook. Every row says where it comes from and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.record import record

Certainty = Literal["high", "medium", "low"]
Accelerator = Literal["cuda", "cpu", "rocm", "xpu", "mps"]


@record
class Build:
    """One torch version x variant x platform, as published on the PyTorch index.

    `sm` and `ptx` are empty for builds without CUDA code; `targets_known` is False where nobody has read them yet.
    `python` is the inclusive range of CPython minors (3.9 to 3.13); `freethreaded` the minors with a t build.
    `folder` is the index folder (usually the variant; "lts/1.8/cu111", "test/xpu" elsewhere).
    """

    torch: Version
    variant: str
    platform: str
    accelerator: Accelerator
    cuda: Dotted | None
    sm: tuple[Target, ...]
    ptx: tuple[Target, ...]
    targets_known: bool
    python: tuple[Dotted, Dotted]
    freethreaded: tuple[Dotted, ...]
    glibc_min: Dotted | None
    local_tag: bool
    advertised: bool
    folder: str
    certainty: Certainty
    source: str
    note: str = ""
    gfx: tuple[str, ...] = ()  # ROCm builds: the gfx targets that the wheel really serves
    gfx_certainty: Certainty = "high"


@record
class Companions:
    """The torchvision and torchaudio versions that belong to one torch version, best first."""

    torch: Version
    versions: Mapping[str, tuple[Version, ...]]  # "torchvision" -> (0.29.2, 0.29.1)
    certainty: Certainty
    source: str
    note: str = ""


@record
class CompanionBuild:
    """A torchvision or torchaudio file family seen on a variant's index for a platform.

    `python` is the set of CPython minors (3.12) with a wheel; empty means any (py3-none) or not read.
    """

    package: str
    version: Version
    variant: str
    platform: str
    python: tuple[Dotted, ...]
    local_tag: bool
    certainty: Certainty
    source: str
    freethreaded: tuple[Dotted, ...] = ()
    note: str = ""


@record
class DriverFloor:
    """The lowest driver for a CUDA major under minor-version compatibility; None = not published."""

    cuda_major: int
    linux: Dotted | None
    windows: Dotted | None
    certainty: Certainty
    source: str


@record
class ToolkitDriver:
    """The driver that a CUDA toolkit shipped with: the lowest that speaks this CUDA in full (PTX JIT included)."""

    cuda: Dotted
    linux: Dotted | None
    windows: Dotted | None
    branch: int
    certainty: Certainty
    source: str


@record
class DriverBranch:
    """A driver branch (580), the newest CUDA that it speaks (13.0), and its end of support ("2028-06") where known.

    `ended`: it is past its end, and the month is not known. `end_certainty` is that of the end.
    """

    branch: int
    cuda: Dotted
    certainty: Certainty
    source: str
    kind: str = ""
    end_of_life: str = ""
    ended: bool = False
    end_certainty: Certainty = "high"


@record
class PythonEnd:
    """A Python minor ("3.11") and the month ("2027-10") of its last security fixes."""

    python: str
    end_of_life: str
    certainty: Certainty
    source: str


@record
class Architecture:
    """A GPU architecture: its capabilities and the driver branches that can drive it (None = no limit known)."""

    name: str
    first: Capability
    last: Capability
    first_branch: int | None
    last_branch: int | None
    certainty: Certainty
    source: str
    # Where the rules say it per capability and not per architecture (10.3 needs R575, 10.0 R570).
    branches: Mapping[Capability, tuple[int | None, int | None]]
    first_branch_certainty: Certainty = "high"  # of first_branch and of the first ones in `branches`


@record
class ToolkitRange:
    """What nvcc of a CUDA version can target: capabilities first to last, without the `absent` ones in between."""

    cuda: Dotted
    first: Capability
    last: Capability
    certainty: Certainty
    source: str
    absent: tuple[Capability, ...] = ()

    def covers(self, capability: Capability) -> bool:
        """Whether this nvcc can make code for exactly this capability."""
        return self.first <= capability <= self.last and capability not in self.absent


@record
class GpuName:
    """A GPU name and its capabilities: one normally, several where the name alone does not decide."""

    name: str
    capabilities: tuple[Capability, ...]
    certainty: Certainty
    source: str
    note: str = ""


@record
class PypiDefault:
    """The variant of the plain torch wheel on the default Python index, per platform (None = no wheel)."""

    torch: Version
    variants: Mapping[str, str | None]
    certainty: Certainty
    source: str


@record
class Release:
    """A torch release that the rules know, and its day ("2025-11-12", "" where unknown)."""

    torch: Version
    date: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class OpenPin:
    """A companion whose metadata does not pin one torch; `requires` is what it says instead (None: nothing)."""

    package: str
    version: Version
    requires: str | None
    certainty: Certainty
    source: str
    note: str = ""


@record
class NotPublished:
    """A variant that people look for and that these torch versions do not have, and why."""

    torch: SpecifierSet
    variant: str
    reason: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class NumpyRule:
    """What torch of these versions requires of NumPy ("numpy<2") on a platform ("any" = all)."""

    torch: SpecifierSet
    platform: str
    requires: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class TegraChip:
    """An integrated GPU (Tegra, Jetson): code of discrete GPUs does not run on it and the other way round."""

    capability: Capability
    boards: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class GfxTargets:
    """The gfx targets inside the wheels of a ROCm variant for a torch minor (2.9); None = nobody has read them."""

    variant: str
    torch: Dotted
    gfx: tuple[str, ...] | None
    certainty: Certainty
    source: str
    note: str = ""


@record
class GfxUnusable:
    """A gfx target that is in the list and yet fails, from a ROCm version (6.4) to another (None = open end)."""

    gfx: str
    first: Dotted
    last: Dotted | None
    fact: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class AmdProduct:
    """An AMD GPU and its gfx target."""

    name: str
    gfx: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class XpuProduct:
    """Words of an Intel GPU's name, and the first torch minor whose xpu builds serve it (None = none does)."""

    words: str
    first: Dotted | None
    certainty: Certainty
    source: str
    note: str = ""
