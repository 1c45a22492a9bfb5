"""Plans made by hand: for tests of what comes after the planner."""

from __future__ import annotations

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.judge.fit import GpuFit
from envsolve.machine.machine import Gpu, Libc, Machine
from envsolve.resolve.plan import Plan
from envsolve.resolve.request import TRIO, Request
from envsolve.resolve.row import PlannedPackage
from envsolve.rulebook.tables import Build

WHL = "https://download.pytorch.org/whl"
LINUX_312 = "cp312-cp312-manylinux_2_28_x86_64"


def a_machine(*, python: str = "3.12", glibc: str | None = "2.35", **rest: object) -> Machine:
    """A Linux box with an RTX 4090, unless told otherwise."""
    fields: dict[str, object] = {
        "os": "linux",
        "arch": "x86_64",
        "driver": Dotted.parse("570.86.10"),
        "cuda_max": Dotted.parse("12.8"),
        "gpus": (Gpu(name="NVIDIA GeForce RTX 4090", compute_capability=Capability(8, 9)),),
        "vendor": "nvidia",
    }
    libc = Libc(name="glibc", version=Dotted.parse(glibc)) if glibc else None
    return Machine(python=python, libc=libc, **{**fields, **rest})  # type: ignore[arg-type]


def a_build(torch: str, variant: str, platform: str = "linux_x86_64", *, local_tag: bool = True) -> Build:
    """A CUDA build with code for 8.6 and 12.0."""
    return Build(
        torch=Version(torch),
        variant=variant,
        platform=platform,
        accelerator="cuda" if variant.startswith("cu") else "cpu",
        cuda=Dotted.parse(f"{variant[2:-1]}.{variant[-1]}") if variant.startswith("cu") else None,
        sm=(Target.parse("sm_86"), Target.parse("sm_120")),
        ptx=(),
        targets_known=True,
        python=(Dotted.parse("3.9"), Dotted.parse("3.14")),
        freethreaded=(),
        glibc_min=Dotted.parse("2.28"),
        local_tag=local_tag,
        advertised=True,
        folder=variant,
        certainty="high",
        source="a test",
    )


def a_plan(
    *requirements: str,
    torch: str = "2.11.0",
    torchvision: str = "0.26.0",
    torchaudio: str = "2.11.0",
    variant: str = "cu128",
    machine: Machine | None = None,
    local_tag: bool = True,
    caps: tuple[str, ...] = (),
    constraints: tuple[str, ...] = (),
    source: str = "pytorch",
    index_url: str = "",
) -> Plan:
    """The plan for these requirements (default: the trio) at these versions; `caps` are the planner's own additions."""
    asked = tuple(Requirement(text) for text in requirements or TRIO)
    versions = {"torch": torch, "torchvision": torchvision, "torchaudio": torchaudio}
    named = {"torch", *(r.name for r in asked)} & versions.keys()
    machine = machine or a_machine()
    build = a_build(torch, variant, machine.platform, local_tag=local_tag)
    return Plan(
        machine=machine,
        request=Request(
            requirements=asked,
            constraints=tuple(Requirement(text) for text in constraints),
            source=source,  # type: ignore[arg-type]
        ),
        build=build,
        index_url=index_url or f"{WHL}/{variant}",
        python=machine.python or "",
        packages=tuple(
            PlannedPackage(name=name, version=Version(versions[name]), local_tag=local_tag, certain=True)
            for name in TRIO
            if name in named
        ),
        others=(*(r for r in asked if r.name not in versions), *map(Requirement, caps)),
        unresolved=(),
        fits=(GpuFit(gpu="NVIDIA GeForce RTX 4090", verdict="compatible", code="sm_86"),),
        notes=(),
        refused=(),
    )
