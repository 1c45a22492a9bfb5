"""A second, plain judge for tests: it reads the YAML of the rules by itself and applies the science of the judgement in
the dullest way, without any code of envsolve. What it says of a machine, the planner must say too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

RULES = Path(__file__).resolve().parents[2] / "rules"
FAMILY = ("torch", "torchvision", "torchaudio")
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar stays text: 3.10 is no number here


@cache
def read(file: str) -> dict[str, Any]:
    with (RULES / file).open(encoding="utf-8") as stream:
        content: dict[str, Any] = yaml.load(stream, Loader=_Loader)
    return content


@cache
def numbers(text: str) -> tuple[int, ...]:
    """ "580.65.06" -> (580, 65, 6); trailing zeros don't count."""
    parts = [int(part) for part in text.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


@cache
def capability(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


@dataclass(frozen=True, eq=False)
class Wheel:
    torch: Version
    variant: str
    row: dict[str, Any]

    @property
    def cuda(self) -> tuple[int, ...] | None:
        found = re.fullmatch(r"cu(\d+)(\d)", self.variant)
        return numbers(f"{found[1]}.{found[2]}") if found else None

    @property
    def sure(self) -> bool:
        return self.row.get("advertised") != "false" and self.row["certainty"] != "low"


@cache
def wheels(platform: str) -> tuple[Wheel, ...]:
    tables = (read("torch/builds.yaml")["builds"], read("torch/other_builds.yaml")["other_builds"])
    return tuple(
        Wheel(Version(torch), variant, platforms[platform])
        for table in tables
        for torch, variants in table.items()
        for variant, platforms in variants.items()
        if platform in platforms
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """A machine of which everything is known, and a request."""

    platform: str  # linux_x86_64
    python: str  # 3.11
    glibc: str | None  # 2.35, musl, or None where it is not known
    driver: str | None
    cuda: str | None  # the driver's CUDA as reported
    gpus: tuple[str, ...]  # capabilities; () = no GPU
    wsl: bool = False
    requirements: tuple[str, ...] = ("torch",)
    variant: str | None = None

    def wants(self, name: str) -> list[SpecifierSet]:
        return _wants(self.requirements, name)


@cache
def _wants(requirements: tuple[str, ...], name: str) -> list[SpecifierSet]:
    return [r.specifier for r in map(Requirement, requirements) if r.name == name]


def solve(case: Case) -> tuple[Version, str] | None:
    """The row that the plan must have; None = there is none."""
    running = [(rank(wheel, case), wheel) for wheel in wheels(case.platform) if not codes(wheel, case)]
    if not running:
        return None
    best = max(running, key=lambda pair: pair[0])[1]
    return best.torch, best.variant


def codes(wheel: Wheel, case: Case) -> set[str]:
    """Every true reason against a wheel; empty = it is an answer."""
    return {*_pins(wheel, case), *_host(wheel, case), *_gpu(wheel, case), *_companions(wheel, case)}


def _pins(wheel: Wheel, case: Case) -> Iterator[str]:
    if case.variant is not None and wheel.variant != case.variant:
        yield "pinned-away"
    for name in FAMILY:
        for specifiers in case.wants(name):
            labels = [s.version.split("+")[1] for s in specifiers if "+" in s.version and s.operator == "=="]
            if any(label != wheel.variant for label in labels):
                yield "pinned-away"
    if not all(_takes(specifiers, wheel.torch, wheel.variant) for specifiers in case.wants("torch")):
        yield "pinned-away"


@cache
def _takes(specifiers: SpecifierSet, version: Version, variant: str) -> bool:
    return all(
        s.contains(f"{version}+{variant}" if "+" in s.version else str(version), prereleases=True) for s in specifiers
    )


def _named(wheel: Wheel, case: Case) -> bool:
    labels = [s.version for name in FAMILY for spec in case.wants(name) for s in spec if s.operator == "=="]
    return wheel.variant == case.variant or any(label.endswith(f"+{wheel.variant}") for label in labels)


def _host(wheel: Wheel, case: Case) -> Iterator[str]:
    if not _has_python(wheel.row, case.python):
        yield "python-unsupported"
    lowest = wheel.row.get("glibc_min")
    if case.platform.startswith("linux") and case.glibc == "musl":
        yield "musl"
    elif case.platform.startswith("linux") and case.glibc and lowest and numbers(case.glibc) < numbers(lowest):
        yield "glibc-too-old"
    cpu = not wheel.variant.startswith(("cu", "rocm", "xpu"))
    own = wheel.variant.startswith("cu") if case.gpus else cpu
    asked = _named(wheel, case) and (cpu or not case.gpus)
    if not own and not asked:
        yield "wrong-accelerator"


def _gpu(wheel: Wheel, case: Case) -> Iterator[str]:
    if not case.gpus or wheel.cuda is None:
        return
    if _driver_too_old(wheel.cuda, case):
        yield "driver-too-old"
    for gpu in map(capability, case.gpus):
        yield from _branch_clash(gpu, case)
        yield from _kernels(wheel, gpu, case)


@cache
def _driver_cuda(case: Case) -> tuple[int, ...] | None:
    if case.cuda is not None:
        return numbers(case.cuda)
    branch = _branch(case)
    return numbers(read("cuda/drivers.yaml")["branches"][str(branch)]["cuda"]) if branch is not None else None


@cache
def _branch(case: Case) -> int | None:
    branches = read("cuda/drivers.yaml")["branches"]
    if case.driver is not None:
        return max((int(b) for b in branches if int(b) <= numbers(case.driver)[0]), default=None)
    if case.cuda is None:
        return None
    return max((int(b) for b, row in branches.items() if numbers(row["cuda"]) <= numbers(case.cuda)), default=None)


@cache
def _driver_too_old(cuda: tuple[int, ...], case: Case) -> bool:
    drivers, system = read("cuda/drivers.yaml"), "windows" if case.wsl or case.platform.startswith("win") else "linux"
    if case.driver is None:
        spoken = _driver_cuda(case)
        return spoken is not None and spoken < cuda and not (cuda[0] >= 11 and spoken[0] == cuda[0])
    shipped = [row[system] for toolkit, row in drivers["toolkits"].items() if numbers(toolkit)[:2] == cuda[:2]]
    if cuda[0] >= 11 and str(cuda[0]) in drivers["floors"]:
        shipped.append(drivers["floors"][str(cuda[0])][system])
    lowest = min((numbers(text) for text in shipped if text not in ("null", "", None)), default=None)
    mine = numbers(case.driver)
    return lowest is not None and mine < lowest and mine != lowest[:1]


def _branch_clash(gpu: tuple[int, int], case: Case) -> Iterator[str]:
    branch = _branch(case)
    for row in read("cuda/architectures.yaml")["architectures"].values():
        if branch is None or not capability(row["first"]) <= gpu <= capability(row["last"]):
            continue
        if "last_branch" in row and branch > int(row["last_branch"]):
            yield "driver-too-new"
        if "first_branch" in row and row.get("first_branch_certainty") != "low" and branch < int(row["first_branch"]):
            yield "gpu-driver-mismatch"


def _kernels(wheel: Wheel, gpu: tuple[int, int], case: Case) -> Iterator[str]:
    tegra = [capability(one) for one in read("cuda/architectures.yaml")["tegra"]]
    code = [divmod(int(one), 10) for one in wheel.row["sm"]]
    if gpu in tegra:
        if gpu not in code:
            yield "vendor-index-needed"
        return
    if any(one[0] == gpu[0] and one[1] <= gpu[1] and one not in tegra for one in code):
        return
    ptx = [one for one in (divmod(int(one), 10) for one in wheel.row["ptx"]) if one <= gpu]
    exact = any(s.operator == "==" and "*" not in s.version for spec in case.wants("torch") for s in spec)
    reach = read("cuda/architectures.yaml")["toolkit_targets"][".".join(map(str, (*(wheel.cuda or ()), 0)[:2]))]
    proven = capability(reach["last"])[0] >= gpu[0]
    if not ptx or not (proven or exact):
        yield "no-kernels"
        return
    spoken = _driver_cuda(case)
    if spoken is not None and wheel.cuda is not None and spoken < wheel.cuda:
        yield "ptx-needs-newer-driver"


def _companions(wheel: Wheel, case: Case) -> Iterator[str]:
    if any(_companion(name, wheel, case) is None for name in ("torchvision", "torchaudio") if case.wants(name)):
        yield "companion-mismatch"
    if _made_for_numpy_1(wheel.torch, case.platform) and _excludes_numpy_1(case.requirements):
        yield "companion-mismatch"


@cache
def _made_for_numpy_1(torch: Version, platform: str) -> bool:
    rows = read("torch/numpy.yaml")["numpy"].items()
    return any(SpecifierSet(spec).contains(torch) and {"any", platform} & set(platforms) for spec, platforms in rows)


@cache
def _excludes_numpy_1(requirements: tuple[str, ...]) -> bool:
    ones = [f"1.{minor}.{patch}" for minor in range(8, 27) for patch in range(7)]
    wanted = _wants(requirements, "numpy")
    return bool(wanted) and not any(all(spec.contains(one) for spec in wanted) for one in ones)


@cache
def _companion(name: str, wheel: Wheel, case: Case) -> tuple[str, bool] | None:
    """The version that goes with a wheel, and whether the rules are sure of the file; the sure ones first."""
    belonging = read("torch/companions.yaml")["companions"].get(str(wheel.torch), {}).get(name, [])
    found = []
    for version in belonging:
        if not all(_takes(spec, Version(version), wheel.variant) for spec in case.wants(name)):
            continue
        files = read("torch/companion_builds.yaml")
        by_variant = files["companion_builds"][name].get(version, {})
        row = by_variant.get(wheel.variant, {}).get(case.platform) or by_variant.get("any", {}).get(case.platform)
        through = files["complete"][name]["through"]
        if row is None and Version(version) <= Version(through):
            continue
        if row is not None and "python" in row and not _has_python(row, case.python):
            continue
        found.append((version, row is not None and row["certainty"] != "low"))
    return max(found, key=lambda pair: pair[1], default=None)


def _has_python(row: dict[str, Any], python: str) -> bool:
    return _among(python.removesuffix("t"), row.get("freethreaded", []) if python.endswith("t") else row["python"])


def _among(python: str, told: str | list[str]) -> bool:
    """Whether a Python is one of "3.9-3.13", "3.8" or a list of both."""
    if isinstance(told, list):
        return any(_among(python, one) for one in told)
    first, _, last = told.partition("-")
    return numbers(first) <= numbers(python) <= numbers(last or first)


def rank(wheel: Wheel, case: Case) -> tuple[object, ...]:
    """The order of choice: sure rows, newest torch, native > compatible > jit, within the driver, newest CUDA."""
    sure = wheel.sure
    for name in ("torchvision", "torchaudio"):
        if case.wants(name):
            companion = _companion(name, wheel, case)
            sure = sure and companion is not None and companion[1]
    code = [divmod(int(one), 10) for one in wheel.row.get("sm", ())]
    worst = 3
    for gpu in map(capability, case.gpus if wheel.cuda else ()):
        same = [one for one in code if one[0] == gpu[0] and one[1] <= gpu[1]]
        worst = min(worst, 3 if gpu in code else 2 if same else 1)
    spoken = _driver_cuda(case)
    within = wheel.cuda is None or spoken is None or wheel.cuda <= spoken
    return (sure, wheel.torch, worst, within, wheel.cuda or ())
