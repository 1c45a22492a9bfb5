"""Ways: the facts behind the ways out, typed, with look-ups. Rows become objects when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from packaging.utils import canonicalize_name

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import OutsideError
from envsolve.rulebook import schema_ways as schema
from envsolve.rulebook import ways_make as make
from envsolve.rulebook import ways_rows as rows
from envsolve.rulebook.compiled import Compiled, Tree, parse
from envsolve.rulebook.load import load_document, rules_dir
from envsolve.rulebook.schema import Table

_Row = TypeVar("_Row")
_Make = Callable[[tuple[str, ...], Mapping[str, Any]], _Row]


# No slots: what is computed once is kept.
@dataclass(frozen=True, eq=False)
class Ways:
    """The compiled tables of the ways out, and the folder of the documents beside them (None: this program's)."""

    compiled: Compiled
    folder: Path | None = None

    @cached_property
    def extension_packages(self) -> Mapping[str, rows.ExtensionPackage]:
        """Canonical name -> a library with CUDA code."""
        return {canonicalize_name(p.name): p for p in self._rows(schema.EXTENSION_PACKAGES, make.extension_package)}

    @cached_property
    def extension_wheels(self) -> Mapping[str, tuple[rows.ExtensionWheel, ...]]:
        """Canonical name -> the known wheels of a library, newest version first."""
        found: dict[str, list[rows.ExtensionWheel]] = {}
        for wheel in self._rows(schema.EXTENSION_WHEELS, make.extension_wheel):
            found.setdefault(canonicalize_name(wheel.package), []).append(wheel)
        return {name: tuple(wheels) for name, wheels in found.items()}

    @cached_property
    def abis(self) -> tuple[rows.CxxAbi, ...]:
        """The C++ ABI of torch wheels."""
        return tuple(self._rows(schema.EXTENSION_ABI, make.cxx_abi))

    @cached_property
    def python_images(self) -> Mapping[Dotted, rows.PythonImage]:
        """CPython minor -> its slim image."""
        return {image.python: image for image in self._rows(schema.PYTHON_IMAGES, make.python_image)}

    @cached_property
    def toolkit_images(self) -> Mapping[Dotted, tuple[rows.ToolkitImage, ...]]:
        """CUDA minor -> the images to compile in, the usual one first."""
        found: dict[Dotted, list[rows.ToolkitImage]] = {}
        for image in self._rows(schema.TOOLKIT_IMAGES, make.toolkit_image):
            found.setdefault(image.cuda, []).append(image)
        return {cuda: tuple(images) for cuda, images in found.items()}

    @cached_property
    def ngc_first(self) -> Mapping[Capability, rows.NgcFirst]:
        """Capability -> the first NGC month that lists it, where that is not the image's own floor."""
        return {row.capability: row for row in self._rows(schema.NGC_FIRST, make.ngc_first)}

    @cached_property
    def obstacles(self) -> tuple[rows.Obstacle, ...]:
        """What stops a source build."""
        return tuple(self._rows(schema.OBSTACLES, make.obstacle))

    @cached_property
    def cudnn_ranges(self) -> tuple[rows.CudnnRange, ...]:
        """Which cuDNN a torch takes."""
        return tuple(self._rows(schema.CUDNN, make.cudnn_range))

    @cached_property
    def job_memory(self) -> tuple[rows.JobMemory, ...]:
        """Memory of one compile job, the most demanding kernels first."""
        return tuple(self._rows(schema.JOB_MEMORY, make.job_memory))

    @cached_property
    def build_costs(self) -> tuple[rows.BuildCost, ...]:
        """What a build takes; the last row that matches counts."""
        return tuple(self._rows(schema.BUILD_COST, make.build_cost))

    @cached_property
    def modules(self) -> tuple[rows.ModuleKind, ...]:
        """The kinds of kernel modules, open first."""
        return tuple(self._rows(schema.MODULES, make.module_kind))

    @cached_property
    def forward_compat(self) -> Mapping[Dotted, rows.ForwardCompat]:
        """CUDA minor -> the branches that cuda-compat of it is listed for."""
        return {row.cuda: row for row in self._rows(schema.FORWARD_COMPAT, make.forward_compat)}

    @cached_property
    def datacentre_words(self) -> frozenset[str]:
        """Words of GPU names that tell a data-centre product, in capitals."""
        return frozenset(word.upper() for word in self._tree(schema.DATACENTRE))

    @cached_property
    def driver_commands(self) -> Mapping[str, rows.DriverCommands]:
        """System -> how it changes its driver."""
        return {row.system: row for row in self._rows(schema.COMMANDS, make.driver_commands)}

    @cached_property
    def old_branches(self) -> Mapping[tuple[str, int], rows.DriverCommands]:
        """(System, branch) -> how a branch is had that the system's other commands don't lead to."""
        made = self._rows(schema.OLD_BRANCHES, lambda keys, leaf: (int(keys[1]), make.old_branch(keys, leaf)))
        return {(row.system, branch): row for branch, row in made}

    @cached_property
    def compat_commands(self) -> Mapping[str, tuple[str, ...]]:
        """System -> the lines that set up cuda-compat."""
        return dict(self._rows(schema.COMPAT_COMMANDS, lambda keys, leaf: (keys[0], tuple(leaf["lines"]))))

    @cached_property
    def accelerators(self) -> Mapping[str, rows.AcceleratorFacts]:
        """Accelerator -> what its wheels and their host need."""
        leaves = self._rows(schema.ACCELERATORS, lambda keys, leaf: (keys[0], make.accelerator(keys, leaf)))
        return dict(leaves)

    # Documents ------------------------------------------------------------------------------------------------------

    @cached_property
    def official_tags(self) -> tuple[rows.OfficialTag, ...]:
        """The tags of pytorch/pytorch, oldest first."""
        return tuple(map(make.official_tag, self._documents["containers"]["pytorch_docker"]["tags"]))

    @cached_property
    def ngc_months(self) -> tuple[rows.NgcMonth, ...]:
        """The monthly NGC images, oldest first."""
        return tuple(map(make.ngc_month, self._documents["containers"]["ngc_pytorch"]["months"]))

    @cached_property
    def source_releases(self) -> Mapping[Dotted, rows.SourceRelease]:
        """torch minor -> what it needs to be compiled, oldest first."""
        made = map(make.source_release, self._documents["source_build"]["releases"])
        return {release.torch: release for release in made}

    @cached_property
    def host_compilers(self) -> Mapping[Dotted, rows.HostCompiler]:
        """CUDA minor -> the gcc that its nvcc takes."""
        made = map(make.host_compiler, self._documents["source_build"]["host_compilers"])
        return {compiler.cuda: compiler for compiler in made}

    # ----------------------------------------------------------------------------------------------------------------

    @cached_property
    def _documents(self) -> Mapping[str, Any]:
        return load_document("ways", self.folder)

    def _tree(self, table: Table) -> Tree:
        return self.compiled.tables[table.name]

    def _rows(self, table: Table, made: _Make[_Row]) -> Iterator[_Row]:
        names = [column.name for column in table.core_columns]
        for keys, cells in _leaves(self._tree(table), len(table.keys)):
            leaf = dict(zip(names, cells, strict=True))
            yield made(keys, {**leaf, "source": self.compiled.sources[leaf["source"]]})


def _leaves(tree: Tree, depth: int, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    for key, below in tree.items():
        if depth == 1:
            yield (*above, key), below
        else:
            yield from _leaves(below, depth - 1, (*above, key))


@cache
def load_ways(folder: Path | None = None) -> Ways:
    """The ways of a rules folder (this program's by default). Raises OutsideError where they can't be read."""
    path = (folder or rules_dir()) / "compiled" / "ways_tables.json"
    try:
        return Ways(compiled=parse(path.read_bytes()), folder=folder)
    except OSError as error:
        hint = "pip install --force-reinstall envsolve"
        raise OutsideError(f"the rules can't be read: {path}: {error.strerror}", hint=hint) from None
