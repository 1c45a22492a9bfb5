"""Rows: one compiled row -> one typed row. The order of a row's cells is that of the schema's core columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envsolve.capability import Capability
from envsolve.rulebook import cells
from envsolve.rulebook.tables import (
    Accelerator,
    AmdProduct,
    Architecture,
    Build,
    CompanionBuild,
    Companions,
    DriverBranch,
    DriverFloor,
    GfxTargets,
    GfxUnusable,
    GpuName,
    NotPublished,
    NumpyRule,
    OpenPin,
    PypiDefault,
    PythonEnd,
    Release,
    TegraChip,
    ToolkitDriver,
    ToolkitRange,
    XpuProduct,
)

Row = Sequence[Any]
Sources = Sequence[str]


def cuda_build(torch: str, variant: str, platform: str, row: Row, sources: Sources) -> Build:
    """A row of `builds`."""
    sm, ptx, known, python, freethreaded, glibc, tag, advertised, folder, certainty, source, note = row
    return Build(
        torch=cells.version(torch),
        variant=variant,
        platform=platform,
        accelerator="cuda",
        cuda=cells.cuda_of(variant),
        sm=cells.cubins(sm),
        ptx=cells.ptx(ptx),
        targets_known=known,
        python=cells.span(python),
        freethreaded=cells.dotteds(freethreaded),
        glibc_min=cells.maybe_dotted(glibc),
        local_tag=tag,
        advertised=advertised,
        folder=folder or variant,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def other_build(torch: str, variant: str, platform: str, row: Row, sources: Sources, gfx: str | None = "") -> Build:
    """A row of `other_builds`: no CUDA code in it. `gfx`: the targets of a ROCm build, None = not read."""
    python, freethreaded, glibc, tag, advertised, folder, accelerator, certainty, source, note = row
    return Build(
        torch=cells.version(torch),
        variant=variant,
        platform=platform,
        accelerator=accelerator or _accelerator(variant),
        cuda=None,
        sm=(),
        ptx=(),
        targets_known=gfx is not None,
        python=cells.span(python),
        freethreaded=cells.dotteds(freethreaded),
        glibc_min=cells.maybe_dotted(glibc),
        local_tag=tag,
        advertised=advertised,
        folder=folder or variant,
        certainty=certainty,
        source=sources[source],
        note=note,
        gfx=cells.words(gfx or ""),
    )


def _accelerator(variant: str) -> Accelerator:
    return "rocm" if variant.startswith("rocm") else "xpu" if variant == "xpu" else "cpu"


def release(torch: str, row: Row, sources: Sources) -> Release:
    """A row of `releases`."""
    date, certainty, source, note = row
    return Release(torch=cells.version(torch), date=date or "", certainty=certainty, source=sources[source], note=note)


def companions(torch: str, row: Row, sources: Sources) -> Companions:
    """A row of `companions`."""
    vision, audio, certainty, source, note = row
    return Companions(
        torch=cells.version(torch),
        versions={"torchvision": cells.versions(vision), "torchaudio": cells.versions(audio)},
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def open_pin(package: str, version: str, row: Row, sources: Sources) -> OpenPin:
    """A row of `open_pins`."""
    requires, certainty, source, note = row
    return OpenPin(
        package=package,
        version=cells.version(version),
        requires=requires,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def companion_build(
    package: str, version: str, variant: str, platform: str, row: Row, sources: Sources
) -> CompanionBuild:
    """A row of `companion_builds`."""
    python, freethreaded, tag, certainty, source, note = row
    return CompanionBuild(
        package=package,
        version=cells.version(version),
        variant=variant,
        platform=platform,
        python=cells.dotteds(python),
        local_tag=tag,
        certainty=certainty,
        source=sources[source],
        freethreaded=cells.dotteds(freethreaded),
        note=note,
    )


def pypi_default(torch: str, row: Row, sources: Sources) -> PypiDefault:
    """A row of `pypi_default`."""
    linux, linux_arm, windows, macos_arm, macos, certainty, source, _note = row
    variants = {
        "linux_x86_64": linux,
        "linux_aarch64": linux_arm,
        "windows_amd64": windows,
        "macos_arm64": macos_arm,
        "macos_x86_64": macos,
    }
    return PypiDefault(torch=cells.version(torch), variants=variants, certainty=certainty, source=sources[source])


def not_published(torch: str, variant: str, row: Row, sources: Sources) -> NotPublished:
    """A row of `not_published`."""
    reason, certainty, source, note = row
    return NotPublished(
        torch=cells.specifier(torch),
        variant=variant,
        reason=reason,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def numpy_rule(torch: str, platform: str, row: Row, sources: Sources) -> NumpyRule:
    """A row of `numpy`."""
    requires, certainty, source, note = row
    return NumpyRule(
        torch=cells.specifier(torch),
        platform=platform,
        requires=requires,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def driver_floor(major: str, row: Row, sources: Sources) -> DriverFloor:
    """A row of `floors`."""
    linux, windows, certainty, source, _note = row
    return DriverFloor(
        cuda_major=int(major),
        linux=cells.maybe_dotted(linux),
        windows=cells.maybe_dotted(windows),
        certainty=certainty,
        source=sources[source],
    )


def toolkit_driver(cuda: str, row: Row, sources: Sources) -> ToolkitDriver:
    """A row of `toolkits`."""
    linux, windows, branch, certainty, source, _note = row
    return ToolkitDriver(
        cuda=cells.dotted(cuda),
        linux=cells.maybe_dotted(linux),
        windows=cells.maybe_dotted(windows),
        branch=branch,
        certainty=certainty,
        source=sources[source],
    )


def driver_branch(branch: str, row: Row, sources: Sources) -> DriverBranch:
    """A row of `branches`."""
    cuda, kind, end_of_life, ended, end_certainty, certainty, source, _note = row
    return DriverBranch(
        branch=int(branch),
        cuda=cells.dotted(cuda),
        certainty=certainty,
        source=sources[source],
        kind=kind,
        end_of_life=end_of_life,
        ended=ended,
        end_certainty=end_certainty or certainty,
    )


def python_end(python: str, row: Row, sources: Sources) -> PythonEnd:
    """A row of `pythons`."""
    end_of_life, certainty, source, _note = row
    return PythonEnd(python=python, end_of_life=end_of_life, certainty=certainty, source=sources[source])


def architecture(name: str, row: Row, sources: Sources) -> Architecture:
    """A row of `architectures`; `branches` holds the capabilities whose first branch differs."""
    first, last, first_branch, last_branch, firsts, certainty, source, _note, first_certainty = row
    branches = {cells.capability(one): (branch, last_branch) for one, branch in (firsts or {}).items()}
    return Architecture(
        name=name,
        first=cells.capability(first),
        last=cells.capability(last),
        first_branch=first_branch,
        last_branch=last_branch,
        certainty=certainty,
        source=sources[source],
        branches=branches,
        first_branch_certainty=first_certainty or certainty,
    )


def tegra_chip(capability: str, row: Row, sources: Sources) -> TegraChip:
    """A row of `tegra`."""
    boards, certainty, source, note = row
    return TegraChip(
        capability=cells.capability(capability),
        boards=boards,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def toolkit_range(cuda: str, row: Row, sources: Sources) -> ToolkitRange:
    """A row of `toolkit_targets`."""
    first, last, absent, certainty, source, _note = row
    return ToolkitRange(
        cuda=cells.dotted(cuda),
        first=cells.capability(first),
        last=cells.capability(last),
        certainty=certainty,
        source=sources[source],
        absent=cells.capabilities(absent),
    )


def gpu_name(name: str, row: Row, sources: Sources) -> GpuName:
    """A row of `names`."""
    capabilities, certainty, source, note = row
    return GpuName(
        name=name,
        capabilities=cells.capabilities(capabilities),
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def chip_capability(row: Row) -> Capability:
    """The capability in a row of `chips`."""
    return cells.capability(row[0])


def gfx_targets(variant: str, torch: str, row: Row, sources: Sources) -> GfxTargets:
    """A row of `gfx_targets`."""
    gfx, certainty, source, note = row
    return GfxTargets(
        variant=variant,
        torch=cells.dotted(torch),
        gfx=None if gfx is None else tuple(gfx.split()),
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def gfx_unusable(gfx: str, first: str, row: Row, sources: Sources) -> GfxUnusable:
    """A row of `gfx_unusable`."""
    last, fact, certainty, source, note = row
    return GfxUnusable(
        gfx=gfx,
        first=cells.rocm(first),
        last=None if last is None else cells.rocm(last),
        fact=fact,
        certainty=certainty,
        source=sources[source],
        note=note,
    )


def amd_product(name: str, row: Row, sources: Sources) -> AmdProduct:
    """A row of `amd_products`."""
    gfx, certainty, source, note = row
    return AmdProduct(name=name, gfx=gfx, certainty=certainty, source=sources[source], note=note)


def xpu_product(words: str, row: Row, sources: Sources) -> XpuProduct:
    """A row of `xpu_products`."""
    first, certainty, source, note = row
    return XpuProduct(
        words=words, first=cells.maybe_dotted(first), certainty=certainty, source=sources[source], note=note
    )
