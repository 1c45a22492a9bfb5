"""The typed rows of the ways out. Every row says where it comes from and how sure it is."""

from __future__ import annotations

from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.record import record
from envsolve.rulebook.tables import Certainty

System = Literal["ubuntu", "debian", "rhel", "windows", "wsl"]


@record
class ExtensionPackage:
    """A library with CUDA code: where its wheels are, and whether a missing one refuses a torch row.

    `never`: platforms without any wheel. `asset`: the address of a file that is on no index, with fields to fill.
    """

    name: str
    home: str
    refuses: bool
    asset: str
    never: tuple[str, ...]
    certainty: Certainty
    source: str
    note: str = ""


@record
class ExtensionWheel:
    """A wheel of such a library: its version (None = whatever it is), the torch, variants and Pythons it goes with.

    `variants` are exact ("cu126"), of a CUDA major ("cu12"), or ("any",). `first` and `last` bound the capabilities
    that the binary serves (None = no bound known). `asset`: it is on no index; the package's address leads to it.
    """

    package: str
    version: Version | None
    torch: SpecifierSet
    variants: tuple[str, ...]
    platforms: tuple[str, ...]
    python: SpecifierSet
    first: Capability | None
    last: Capability | None
    asset: bool
    certainty: Certainty
    source: str
    note: str = ""


@record
class CxxAbi:
    """The C++ ABI of torch wheels, as it stands in the names of assets: "TRUE" or "FALSE"."""

    torch: SpecifierSet
    variants: tuple[str, ...]
    abi: str
    certainty: Certainty
    source: str


@record
class PythonImage:
    """The slim official image of a CPython minor, and its glibc."""

    python: Dotted
    tag: str
    glibc: Dotted
    certainty: Certainty
    source: str


@record
class ToolkitImage:
    """An image with a CUDA toolkit and cuDNN to compile in; `gcc`: the majors it can install, its own first.

    `glibc` is its C library's: what is compiled there needs this one or a newer.
    """

    cuda: Dotted
    tag: str
    ubuntu: Dotted
    glibc: Dotted
    cudnn: int
    gcc: tuple[int, ...]
    certainty: Certainty
    source: str


@record
class NgcFirst:
    """The first month whose notes list a capability."""

    capability: Capability
    month: Dotted
    certainty: Certainty
    source: str


@record
class OfficialTag:
    """A tag of pytorch/pytorch. `seen`: its text was found in public files; else the build matrix implies it."""

    tag: str
    torch: Version
    cuda: Dotted
    kind: Literal["runtime", "devel"]
    seen: bool
    certainty: Certainty
    source: str


@record
class NgcMonth:
    """A monthly NGC image; None = not found. `datacentre_branches` serve it besides, on data-centre GPUs."""

    month: Dotted
    image: str
    torch: str | None
    cuda: str | None
    driver_min: Dotted | None
    datacentre_branches: tuple[int, ...]
    python: str | None
    first: Capability | None
    certainty: Certainty
    source: str
    note: str = ""


@record
class SourceRelease:
    """What a torch minor (2.9) needs to be compiled. `cuda_max` None = no cap known beyond the official builds.

    `python` is the first and last CPython minor; `gcc_min` the compiler that its C++ standard needs; `numbers` the
    capabilities that its extension builder knows by number.
    """

    torch: Dotted
    cuda_min: Dotted | None
    cuda_max: Dotted | None
    cuda_built: tuple[Dotted, ...]
    python: tuple[Dotted, Dotted] | None
    cmake_min: str
    gcc_min: Dotted
    setuptools: str
    numpy: str
    numbers: frozenset[Capability]
    certainty: Certainty
    source: str


@record
class HostCompiler:
    """The gcc majors that nvcc of a CUDA takes: `first` inclusive, `end` exclusive."""

    cuda: Dotted
    first: int
    end: int
    certainty: Certainty
    source: str


@record
class Obstacle:
    """Something that stops a source build ("stop") or has to be known ("note"), where all its conditions hold."""

    name: str
    torch: SpecifierSet
    cuda: SpecifierSet | None
    gcc: SpecifierSet | None
    first: Capability | None
    stops: bool
    why: str
    certainty: Certainty
    source: str


@record
class CudnnRange:
    """The cuDNN majors that torch of these versions takes."""

    torch: SpecifierSet
    majors: tuple[int, ...]
    certainty: Certainty
    source: str


@record
class JobMemory:
    """Memory of one compile job in MiB, where code for `first` or more is compiled (None: always)."""

    name: str
    torch: SpecifierSet
    first: Capability | None
    mib: int
    certainty: Certainty
    source: str


@record
class BuildCost:
    """What a build takes: hours of one core in all and per architecture, and disk in GiB."""

    torch: SpecifierSet
    core_hours: int
    core_hours_each: int
    disk_gib: int
    certainty: Certainty
    source: str


@record
class ModuleKind:
    """A kind of kernel modules, the capabilities that it drives, and the branch from which on it is the usual one."""

    kind: Literal["open", "proprietary"]
    first: Capability | None
    last: Capability | None
    default_from: int
    certainty: Certainty
    source: str


@record
class ForwardCompat:
    """The older driver branches on which cuda-compat of this CUDA is listed for data-centre GPUs."""

    cuda: Dotted
    branches: tuple[int, ...]
    certainty: Certainty
    source: str


@record
class DriverCommands:
    """How a system changes its driver. `{branch}` in a line is the branch; `hold` keeps it."""

    system: System
    title: str
    open: tuple[str, ...]
    proprietary: tuple[str, ...]
    hold: tuple[str, ...]
    certainty: Certainty
    source: str
    note: str = ""


@record
class AcceleratorFacts:
    """What the wheels of an accelerator bring along, what the host must have, how a program names the device."""

    name: str
    wheel: str
    host: str
    device: str
    certainty: Certainty
    source: str
