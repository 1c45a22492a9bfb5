"""From rows of the rules, as mappings by column, to the typed rows of the ways out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.rulebook import cells
from envsolve.rulebook import ways_rows as rows

Keys = tuple[str, ...]
Leaf = Mapping[str, Any]


def _whence(leaf: Leaf) -> dict[str, Any]:
    return {"certainty": leaf["certainty"], "source": leaf["source"]}


def _capability(text: str | None) -> Capability | None:
    return None if text is None else cells.capability(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def extension_package(keys: Keys, leaf: Leaf) -> rows.ExtensionPackage:
    return rows.ExtensionPackage(
        name=keys[0],
        home=leaf["home"],
        refuses=leaf["missing"] == "refuse",
        asset=leaf["asset"],
        never=tuple(leaf["never"].split()),
        note=leaf["note"],
        **_whence(leaf),
    )


def extension_wheel(keys: Keys, leaf: Leaf) -> rows.ExtensionWheel:
    package, version, torch, variants = keys
    return rows.ExtensionWheel(
        package=package,
        version=None if version == "any" else cells.version(version),
        torch=cells.specifier(torch),
        variants=tuple(variants.split()),
        platforms=tuple(leaf["platforms"].split()),
        python=cells.specifier(leaf["python"]),
        first=_capability(leaf["first"]),
        last=_capability(leaf["last"]),
        asset=leaf["asset"],
        note=leaf["note"],
        **_whence(leaf),
    )


def cxx_abi(keys: Keys, leaf: Leaf) -> rows.CxxAbi:
    variants = tuple(leaf["variants"].split())
    return rows.CxxAbi(torch=cells.specifier(leaf["torch"]), variants=variants, abi=leaf["abi"], **_whence(leaf))


def python_image(keys: Keys, leaf: Leaf) -> rows.PythonImage:
    return rows.PythonImage(
        python=cells.dotted(keys[0]), tag=leaf["tag"], glibc=cells.dotted(leaf["glibc"]), **_whence(leaf)
    )


def toolkit_image(keys: Keys, leaf: Leaf) -> rows.ToolkitImage:
    return rows.ToolkitImage(
        cuda=cells.dotted(keys[0]),
        tag=leaf["tag"],
        ubuntu=cells.dotted(keys[1]),
        glibc=cells.dotted(leaf["glibc"]),
        cudnn=leaf["cudnn"],
        gcc=_numbers(leaf["gcc"]),
        **_whence(leaf),
    )


def ngc_first(keys: Keys, leaf: Leaf) -> rows.NgcFirst:
    return rows.NgcFirst(capability=cells.capability(keys[0]), month=cells.dotted(leaf["month"]), **_whence(leaf))


def obstacle(keys: Keys, leaf: Leaf) -> rows.Obstacle:
    return rows.Obstacle(
        name=keys[0],
        torch=cells.specifier(leaf["torch"]),
        cuda=None if leaf["cuda"] is None else cells.specifier(leaf["cuda"]),
        gcc=None if leaf["gcc"] is None else cells.specifier(leaf["gcc"]),
        first=_capability(leaf["first"]),
        stops=leaf["effect"] == "stop",
        why=leaf["why"],
        **_whence(leaf),
    )


def cudnn_range(keys: Keys, leaf: Leaf) -> rows.CudnnRange:
    return rows.CudnnRange(torch=cells.specifier(leaf["torch"]), majors=_numbers(leaf["majors"]), **_whence(leaf))


def job_memory(keys: Keys, leaf: Leaf) -> rows.JobMemory:
    return rows.JobMemory(
        name=keys[0],
        torch=cells.specifier(leaf["torch"]),
        first=_capability(leaf["first"]),
        mib=leaf["mib"],
        **_whence(leaf),
    )


def build_cost(keys: Keys, leaf: Leaf) -> rows.BuildCost:
    return rows.BuildCost(
        torch=cells.specifier(leaf["torch"]),
        core_hours=leaf["core_hours"],
        core_hours_each=leaf["core_hours_each"],
        disk_gib=leaf["disk_gib"],
        **_whence(leaf),
    )


def module_kind(keys: Keys, leaf: Leaf) -> rows.ModuleKind:
    return rows.ModuleKind(
        kind="open" if keys[0] == "open" else "proprietary",
        first=_capability(leaf["first"]),
        last=_capability(leaf["last"]),
        default_from=leaf["default_from"],
        **_whence(leaf),
    )


def forward_compat(keys: Keys, leaf: Leaf) -> rows.ForwardCompat:
    return rows.ForwardCompat(cuda=cells.dotted(keys[0]), branches=_numbers(leaf["branches"]), **_whence(leaf))


def driver_commands(keys: Keys, leaf: Leaf) -> rows.DriverCommands:
    return rows.DriverCommands(
        system=keys[0],  # type: ignore[arg-type]  # the schema lets only these through
        title=leaf["title"],
        open=tuple(leaf["open"]),
        proprietary=tuple(leaf["proprietary"]),
        hold=tuple(leaf["hold"]),
        note=leaf["note"],
        **_whence(leaf),
    )


def old_branch(keys: Keys, leaf: Leaf) -> rows.DriverCommands:
    """Another set of commands for one branch: of its time are no open modules, and the lines hold what they install."""
    lines = tuple(leaf["lines"])
    return rows.DriverCommands(
        system=keys[0],  # type: ignore[arg-type]  # the schema lets only these through
        title=leaf["title"],
        open=lines,
        proprietary=lines,
        hold=(),
        note=leaf["note"],
        **_whence(leaf),
    )


def accelerator(keys: Keys, leaf: Leaf) -> rows.AcceleratorFacts:
    return rows.AcceleratorFacts(
        name=leaf["name"], wheel=leaf["wheel"], host=leaf["host"], device=leaf["device"], **_whence(leaf)
    )


def official_tag(leaf: Leaf) -> rows.OfficialTag:
    return rows.OfficialTag(
        tag=leaf["tag"],
        torch=Version(leaf["torch"]),
        cuda=Dotted.parse(leaf["cuda"]),
        kind=leaf["kind"],
        seen=leaf["seen"],
        **_whence(leaf),
    )


def ngc_month(leaf: Leaf) -> rows.NgcMonth:
    branches = leaf.get("datacentre_driver_branches") or ()
    return rows.NgcMonth(
        month=Dotted.parse(leaf["month"]),
        image=leaf["image"],
        torch=leaf["torch"],
        cuda=leaf["cuda"],
        driver_min=cells.maybe_dotted(leaf["driver_min"]),
        datacentre_branches=tuple(Dotted.parse(branch).major for branch in branches),
        python=leaf["python"],
        first=_capability(leaf["cc_min"]),
        note=leaf.get("note", ""),
        **_whence(leaf),
    )


def source_release(leaf: Leaf) -> rows.SourceRelease:
    python = leaf["python"]
    known = python["min"] is not None and python["max"] is not None
    numbers = [n for n in leaf["arch_numbers_cpp_extension"] or () if re.fullmatch(r"\d+\.\d", n)]
    return rows.SourceRelease(
        torch=Dotted.parse(leaf["torch"]),
        cuda_min=cells.maybe_dotted(leaf["cuda_min_enforced"]),
        cuda_max=cells.maybe_dotted(leaf["cuda_max_packager"]),
        cuda_built=tuple(map(Dotted.parse, leaf["cuda_official_builds"])),
        python=(Dotted.parse(python["min"]), Dotted.parse(python["max"])) if known else None,
        cmake_min=leaf["cmake_min"],
        gcc_min=Dotted.parse(leaf["gcc_min_for_cxx"]),
        setuptools=leaf.get("setuptools", ""),
        numpy=leaf.get("numpy", ""),
        numbers=frozenset(map(Capability.parse, numbers)),
        **_whence(leaf),
    )


def host_compiler(leaf: Leaf) -> rows.HostCompiler:
    """Where the tables disagree, what all of them take. Ends are exclusive, so "11.2" leaves the major 10."""
    ranges = [leaf[name] for name in ("gcc_spack", "gcc_torch_table") if leaf[name]]
    return rows.HostCompiler(
        cuda=Dotted.parse(leaf["cuda"]),
        first=max(Dotted.parse(first).major for first, _ in ranges),
        end=min(Dotted.parse(end).major for _, end in ranges),
        **_whence(leaf),
    )
