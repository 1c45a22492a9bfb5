"""Rulebook: all facts, typed, with quick look-ups. Rows become objects when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.record import replace
from envsolve.rulebook import cells, rows
from envsolve.rulebook.compiled import Compiled, Tree
from envsolve.rulebook.tables import (
    AmdProduct,
    Architecture,
    Build,
    CompanionBuild,
    Companions,
    DriverBranch,
    DriverFloor,
    GfxTargets,
    GfxUnusable,
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

if TYPE_CHECKING:
    from envsolve.rulebook.names import GpuNames

_Key = TypeVar("_Key")
_Row = TypeVar("_Row")

BuildTable = tuple[str, Callable[..., Build]]
_CUDA_TABLE: tuple[BuildTable, ...] = (("builds", rows.cuda_build),)
_OTHER_TABLE: tuple[BuildTable, ...] = (("other_builds", rows.other_build),)

# Files in the root of the index: listed on every variant's page, without CUDA code.
_ROOT = "any"


class Rulebook:
    """The rules of one compiled file. Nothing in here changes; what is computed once is kept."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled

    @property
    def digest(self) -> str:
        """The sha256 (hex) of the YAML sources."""
        return self.compiled.digest

    # Builds ---------------------------------------------------------------------------------------------------------

    @cached_property
    def torch_versions(self) -> tuple[Version, ...]:
        """All torch releases that the rules know, oldest first."""
        return tuple(sorted(map(cells.version, self._tree("releases"))))

    @cached_property
    def releases(self) -> Mapping[Version, Release]:
        """The releases with their days."""
        return self._keyed("releases", cells.version, rows.release)

    @cached_property
    def builds(self) -> tuple[Build, ...]:
        """All builds of all platforms, oldest torch first."""
        return tuple(build for platform in self.platforms for build in self.builds_on(platform))

    @cached_property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that have a build."""
        trees = [self._tree("builds"), self._tree("other_builds")]
        leaves = (leaves for tree in trees for variants in tree.values() for leaves in variants.values())
        return tuple(sorted({platform for platforms in leaves for platform in platforms}))

    def builds_on(self, platform: str) -> tuple[Build, ...]:
        """The builds of a platform ("linux_x86_64"), oldest torch first, CUDA variants ascending, then the others."""
        if platform not in self._builds_by_platform:
            self._builds_by_platform[platform] = self._make_builds(platform, (*_CUDA_TABLE, *_OTHER_TABLE))
        return self._builds_by_platform[platform]

    def cuda_builds_on(self, platform: str) -> tuple[Build, ...]:
        """Those of them with CUDA: a plan for an NVIDIA GPU makes no others."""
        if platform not in self._cuda_by_platform:
            self._cuda_by_platform[platform] = self._make_builds(platform, _CUDA_TABLE)
        return self._cuda_by_platform[platform]

    @cached_property
    def _builds_by_platform(self) -> dict[str, tuple[Build, ...]]:
        return {}

    @cached_property
    def _cuda_by_platform(self) -> dict[str, tuple[Build, ...]]:
        return {}

    def _make_builds(self, platform: str, tables: tuple[BuildTable, ...]) -> tuple[Build, ...]:
        found: list[Build] = []
        for torch in map(str, self.torch_versions):
            for table, make in tables:
                for variant, leaves in self._tree(table).get(torch, {}).items():
                    if platform in leaves:
                        found.append(self._build(make, torch, variant, platform, leaves[platform]))
        return tuple(found)

    def _build(self, make: Callable[..., Build], torch: str, variant: str, platform: str, leaf: rows.Row) -> Build:
        if not variant.startswith("rocm"):
            return self._row(make, torch, variant, platform, leaf=leaf)
        targets = self._tree("gfx_targets").get(variant, {}).get(".".join(torch.split(".")[:2]))
        build: Build = make(torch, variant, platform, leaf, self.compiled.sources, targets[0] if targets else None)
        unsure = targets is not None and targets[1] == "low"
        return replace(build, gfx_certainty="low") if unsure else build

    def build(self, torch: Version, variant: str, platform: str) -> Build | None:
        """One build, or None where the rules know none."""
        for table, make in (("builds", rows.cuda_build), ("other_builds", rows.other_build)):
            leaf = self._tree(table).get(str(torch), {}).get(variant, {}).get(platform)
            if leaf is not None:
                return self._build(make, str(torch), variant, platform, leaf)
        return None

    # Companions -----------------------------------------------------------------------------------------------------

    @cached_property
    def companions(self) -> Mapping[Version, Companions]:
        """torch -> its torchvision and torchaudio versions, best first."""
        return self._keyed("companions", cells.version, rows.companions)

    @cached_property
    def open_pins(self) -> tuple[OpenPin, ...]:
        """Companions whose metadata does not pin one torch."""
        tree = self._tree("open_pins")
        return tuple(
            self._row(rows.open_pin, package, version, leaf=leaf)
            for package, versions in tree.items()
            for version, leaf in versions.items()
        )

    def companion_builds(self, package: str, version: Version, variant: str, platform: str) -> CompanionBuild | None:
        """The files of a companion on a variant's page, or None. Absence means something only where
        `companion_listing_complete`."""
        variants = self._tree("companion_builds").get(package, {}).get(str(version), {})
        leaf = variants.get(variant, {}).get(platform) or variants.get(_ROOT, {}).get(platform)
        if leaf is None:
            return None
        return self._row(rows.companion_build, package, str(version), variant, platform, leaf=leaf)

    def companion_listing_complete(self, package: str, version: Version) -> bool:
        """Whether the index was read whole for this companion version: then a missing row is a missing file."""
        leaf = self._tree("complete").get(package)
        return leaf is not None and version <= cells.version(leaf[0])

    def companion_versions(self, package: str) -> tuple[Version, ...]:
        """All versions of a companion in the rules, oldest first."""
        return tuple(sorted(map(cells.version, self._tree("companion_builds").get(package, {}))))

    # Drivers and toolkits -------------------------------------------------------------------------------------------

    @cached_property
    def driver_floors(self) -> Mapping[int, DriverFloor]:
        """CUDA major -> the lowest driver under minor-version compatibility."""
        return self._keyed("floors", int, rows.driver_floor)

    @cached_property
    def toolkit_drivers(self) -> tuple[ToolkitDriver, ...]:
        """The driver that each toolkit shipped with, oldest CUDA first."""
        made = self._keyed("toolkits", cells.dotted, rows.toolkit_driver)
        return tuple(made[cuda] for cuda in sorted(made))

    @cached_property
    def shipped_drivers(self) -> Mapping[tuple[int, ...], tuple[ToolkitDriver, ...]]:
        """CUDA minor, like (12, 8) -> what each of its toolkits ships with."""
        found: dict[tuple[int, ...], list[ToolkitDriver]] = {}
        for row in self.toolkit_drivers:
            found.setdefault(_minor(row.cuda), []).append(row)
        return {minor: tuple(rows) for minor, rows in found.items()}

    def toolkit_driver(self, cuda: Dotted) -> ToolkitDriver | None:
        """The first toolkit driver of a CUDA minor (12.8 -> that of 12.8.0): the lowest that speaks it in full."""
        return next((row for row in self.toolkit_drivers if _minor(row.cuda) == _minor(cuda)), None)

    @cached_property
    def branches(self) -> Mapping[int, DriverBranch]:
        """Driver branch -> the newest CUDA that it speaks, oldest first."""
        return dict(sorted(self._keyed("branches", int, rows.driver_branch).items()))

    @cached_property
    def toolkit_ranges(self) -> Mapping[Dotted, ToolkitRange]:
        """CUDA (12.8) -> what its nvcc can target."""
        return self._keyed("toolkit_targets", cells.dotted, rows.toolkit_range)

    # GPUs -----------------------------------------------------------------------------------------------------------

    @cached_property
    def architectures(self) -> tuple[Architecture, ...]:
        """All architectures, oldest first."""
        return tuple(self._keyed("architectures", str, rows.architecture).values())

    def architecture(self, capability: Capability) -> Architecture | None:
        """The architecture of a capability, or None where the rules know none."""
        return next((row for row in self.architectures if row.first <= capability <= row.last), None)

    @cached_property
    def tegra(self) -> Mapping[Capability, TegraChip]:
        """The capabilities of integrated GPUs."""
        return self._keyed("tegra", cells.capability, rows.tegra_chip)

    @cached_property
    def tegra_capabilities(self) -> frozenset[Capability]:
        """The capabilities whose code never mixes with that of discrete GPUs."""
        return frozenset(self.tegra)

    @cached_property
    def gpu_names(self) -> GpuNames:
        """GPU names -> capability. Most plans know the capability and never load this."""
        from envsolve.rulebook.names import GpuNames

        return GpuNames(
            names=self._tree("names"),
            index=self._tree("name_index"),
            sources=self.compiled.sources,
            chips=self._tree("chips"),
        )

    def superchip_arch(self, name: str) -> str | None:
        """The processor that a GPU's own package brings ("aarch64"), by its name in the rules; None for a card."""
        row = self._tree("superchips").get(name)
        return str(row[0]) if row else None

    def gfx_targets(self, torch: Version, variant: str) -> GfxTargets | None:
        """The gfx targets of a ROCm build, or None where the rules have no row."""
        minor = f"{torch.major}.{torch.minor}"
        leaf = self._tree("gfx_targets").get(variant, {}).get(minor)
        return None if leaf is None else self._row(rows.gfx_targets, variant, minor, leaf=leaf)

    @cached_property
    def gfx_unusable(self) -> tuple[GfxUnusable, ...]:
        """gfx targets that are in a wheel's list and yet fail."""
        return tuple(
            self._row(rows.gfx_unusable, gfx, first, leaf=leaf)
            for gfx, firsts in self._tree("gfx_unusable").items()
            for first, leaf in firsts.items()
        )

    @cached_property
    def amd_products(self) -> Mapping[str, AmdProduct]:
        """AMD product name -> gfx target."""
        return self._keyed("amd_products", str, rows.amd_product)

    @cached_property
    def xpu_products(self) -> tuple[XpuProduct, ...]:
        """What Intel GPUs' names tell of xpu builds, the most telling first."""
        return tuple(self._keyed("xpu_products", str, rows.xpu_product).values())

    # The rest -------------------------------------------------------------------------------------------------------

    @cached_property
    def pypi_defaults(self) -> Mapping[Version, PypiDefault]:
        """torch -> the variant of the plain wheel of the default Python index, per platform."""
        return self._keyed("pypi_default", cells.version, rows.pypi_default)

    @cached_property
    def python_ends(self) -> Mapping[str, PythonEnd]:
        """Python minor ("3.11") -> the month of its last security fixes."""
        return self._keyed("pythons", str, rows.python_end)

    @cached_property
    def not_published(self) -> tuple[NotPublished, ...]:
        """Variants that people look for and do not find."""
        return tuple(
            self._row(rows.not_published, torch, variant, leaf=leaf)
            for torch, variants in self._tree("not_published").items()
            for variant, leaf in variants.items()
        )

    @cached_property
    def numpy_rules(self) -> tuple[NumpyRule, ...]:
        """What torch requires of NumPy."""
        return tuple(
            self._row(rows.numpy_rule, torch, platform, leaf=leaf)
            for torch, platforms in self._tree("numpy").items()
            for platform, leaf in platforms.items()
        )

    def numpy_rule(self, torch: Version, platform: str) -> NumpyRule | None:
        """The rule for one torch on one platform, or None: any NumPy will do."""
        fits = (rule for rule in self.numpy_rules if rule.torch.contains(torch) and rule.platform in ("any", platform))
        return next(fits, None)

    # ----------------------------------------------------------------------------------------------------------------

    def _tree(self, table: str) -> Tree:
        return self.compiled.tables[table]

    def _keyed(self, table: str, key: Callable[[str], _Key], make: Callable[..., _Row]) -> dict[_Key, _Row]:
        """A table with one key, in the order of the rules."""
        return {key(text): self._row(make, text, leaf=leaf) for text, leaf in self._tree(table).items()}

    def _row(self, make: Callable[..., _Row], *keys: str, leaf: rows.Row) -> _Row:
        return make(*keys, leaf, self.compiled.sources)


def _minor(cuda: Dotted) -> tuple[int, ...]:
    # The parts of 12.0 are (12,): Dotted drops trailing zeros.
    return (*cuda.parts, 0)[:2]
