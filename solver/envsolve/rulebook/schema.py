"""Schema: which tables the rules hold, in which file, and how each field reads."""

from __future__ import annotations

from dataclasses import dataclass

from envsolve.rulebook import fields
from envsolve.rulebook.fields import Cell, Reader

# Stands for "this field must be there".
REQUIRED = object()

PLATFORMS = ("linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64", "macos_x86_64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One field of a row. `core` False = for people and checks, not in the compiled core."""

    name: str
    read: Reader
    default: Cell = REQUIRED
    core: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A section of a rules file: nested mappings by `keys`, then rows of `columns`.

    Compiled, a row is the list of its core columns, below the same keys.
    """

    name: str
    file: str
    keys: tuple[Column, ...]
    columns: tuple[Column, ...]
    core: bool = True

    @property
    def core_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.core)


def _source(value: object) -> Cell:
    """Replaced by the loader, which knows the names of the file's sources."""
    return fields.text(value)


SOURCE = Column(name="source", read=_source)
CERTAINTY = Column(name="certainty", read=fields.choice("high", "medium", "low"))
NOTE = Column(name="note", read=fields.text, default="")
# Every row ends with these three.
WHENCE = (CERTAINTY, SOURCE, NOTE)

_TORCH = Column(name="torch", read=fields.version)
_PLATFORM = Column(name="platform", read=fields.choice(*PLATFORMS))
_CUDA_VARIANT = Column(name="variant", read=fields.matching(r"cu\d{2,3}", "a CUDA variant such as cu128"))
_OTHER_VARIANT = Column(name="variant", read=fields.matching(r"cpu|xpu|rocm\d+(\.\d+)+", "cpu, xpu or rocmX.Y"))
_ANY_VARIANT = Column(
    name="variant", read=fields.matching(r"any|cpu|xpu|cu\d{2,3}|rocm\d+(\.\d+)+", "a variant of the index, or any")
)
_COMPANION = Column(name="package", read=fields.choice("torchvision", "torchaudio"))
_EVIDENCE = Column(
    name="evidence",
    read=fields.choice("wheel", "wheel_sibling", "build_script", "release_matrix", "issue", "inferred"),
    core=False,
)
_FILES = (
    Column(name="python", read=fields.span),
    Column(name="freethreaded", read=fields.minors, default=""),
    Column(name="glibc_min", read=fields.dotted, default=None),
    Column(name="local_tag", read=fields.flag, default=True),
    Column(name="advertised", read=fields.flag, default=True),
    Column(name="folder", read=fields.text, default=""),
)
_CODE = (
    Column(name="sm", read=fields.targets),
    Column(name="ptx", read=fields.targets),
    Column(name="targets_known", read=fields.flag, default=True),
)

BUILDS = Table(
    name="builds",
    file="torch/builds.yaml",
    keys=(_TORCH, _CUDA_VARIANT, _PLATFORM),
    columns=(
        *_CODE,
        *_FILES,
        *WHENCE,
        Column(name="toolkit", read=fields.dotted, default=None, core=False),
        Column(name="cudnn", read=fields.dotted, default=None, core=False),
        _EVIDENCE,
    ),
)

OTHER_BUILDS = Table(
    name="other_builds",
    file="torch/other_builds.yaml",
    keys=(_TORCH, _OTHER_VARIANT, _PLATFORM),
    columns=(*_FILES, Column(name="accelerator", read=fields.choice("mps"), default=""), *WHENCE),
)

RELEASES = Table(
    name="releases",
    file="torch/releases.yaml",
    keys=(_TORCH,),
    columns=(Column(name="date", read=fields.matching(r"\d{4}-\d\d-\d\d", "a day"), default=None), *WHENCE),
)

COMPANIONS = Table(
    name="companions",
    file="torch/companions.yaml",
    keys=(_TORCH,),
    columns=(
        Column(name="torchvision", read=fields.versions),
        Column(name="torchaudio", read=fields.versions),
        *WHENCE,
    ),
)

OPEN_PINS = Table(
    name="open_pins",
    file="torch/companions.yaml",
    keys=(_COMPANION, Column(name="version", read=fields.version)),
    columns=(Column(name="requires", read=fields.optional(fields.text)), *WHENCE),
)

COMPLETE = Table(
    name="complete",
    file="torch/companion_builds.yaml",
    keys=(_COMPANION,),
    columns=(Column(name="through", read=fields.version), *WHENCE),
)

COMPANION_BUILDS = Table(
    name="companion_builds",
    file="torch/companion_builds.yaml",
    keys=(_COMPANION, Column(name="version", read=fields.version), _ANY_VARIANT, _PLATFORM),
    columns=(
        Column(name="python", read=fields.minors, default=""),
        Column(name="freethreaded", read=fields.minors, default=""),
        Column(name="local_tag", read=fields.flag, default=True),
        *WHENCE,
    ),
)

_PYPI_VARIANT = fields.optional(fields.matching(r"cpu|cu\d{2,3}", "cpu or cuNNN"))
PYPI_DEFAULT = Table(
    name="pypi_default",
    file="torch/pypi_default.yaml",
    keys=(_TORCH,),
    columns=(
        *(
            Column(name=platform, read=_PYPI_VARIANT)
            for platform in ("linux_x86_64", "linux_aarch64", "windows_amd64", "macos_arm64", "macos_x86_64")
        ),
        *WHENCE,
        Column(name="evidence", read=fields.choice("wheel", "page", "metadata", "inferred", "size"), core=False),
    ),
)

NOT_PUBLISHED = Table(
    name="not_published",
    file="torch/not_published.yaml",
    keys=(Column(name="torch", read=fields.specifier), _CUDA_VARIANT),
    columns=(Column(name="reason", read=fields.text), *WHENCE),
)

ABSENT_TARGETS = Table(
    name="absent_targets",
    file="torch/not_published.yaml",
    keys=(Column(name="what", read=fields.text),),
    columns=(Column(name="fact", read=fields.text), *WHENCE),
    core=False,
)

NUMPY = Table(
    name="numpy",
    file="torch/numpy.yaml",
    keys=(Column(name="torch", read=fields.specifier), Column(name="platform", read=fields.choice("any", *PLATFORMS))),
    columns=(Column(name="requires", read=fields.text), *WHENCE),
)

_DRIVER = fields.optional(fields.dotted)
FLOORS = Table(
    name="floors",
    file="cuda/drivers.yaml",
    keys=(Column(name="cuda_major", read=fields.whole),),
    columns=(
        Column(name="linux", read=_DRIVER),
        Column(name="windows", read=_DRIVER),
        *WHENCE,
        Column(name="toolkits", read=fields.text, core=False),
    ),
)

TOOLKITS = Table(
    name="toolkits",
    file="cuda/drivers.yaml",
    keys=(Column(name="cuda", read=fields.dotted),),
    columns=(
        Column(name="linux", read=_DRIVER),
        Column(name="windows", read=_DRIVER),
        Column(name="branch", read=fields.whole),
        *WHENCE,
    ),
)

BRANCHES = Table(
    name="branches",
    file="cuda/drivers.yaml",
    keys=(Column(name="branch", read=fields.whole),),
    columns=(
        Column(name="cuda", read=fields.dotted),
        Column(name="kind", read=fields.choice("LTS", "production", "new feature"), default=""),
        Column(name="end_of_life", read=fields.matching(r"\d{4}-\d\d", "a month such as 2028-06"), default=""),
        *WHENCE,
    ),
)

DRIVER_FACTS = Table(
    name="facts",
    file="cuda/drivers.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(Column(name="fact", read=fields.text), *WHENCE),
    core=False,
)

ARCHITECTURES = Table(
    name="architectures",
    file="cuda/architectures.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(
        Column(name="first", read=fields.capability),
        Column(name="last", read=fields.capability),
        Column(name="first_branch", read=fields.whole, default=None),
        Column(name="last_branch", read=fields.whole, default=None),
        Column(name="first_branches", read=fields.mapping(fields.capability, fields.whole), default=None),
        *WHENCE,
        Column(name="first_branch_certainty", read=CERTAINTY.read, default=None, core=False),
    ),
)

TEGRA = Table(
    name="tegra",
    file="cuda/architectures.yaml",
    keys=(Column(name="capability", read=fields.capability),),
    columns=(Column(name="boards", read=fields.text), *WHENCE),
)

TOOLKIT_TARGETS = Table(
    name="toolkit_targets",
    file="cuda/architectures.yaml",
    keys=(Column(name="cuda", read=fields.dotted),),
    columns=(
        Column(name="first", read=fields.capability),
        Column(name="last", read=fields.capability),
        Column(name="absent", read=fields.capabilities, default=""),
        *WHENCE,
    ),
)

BINARY_RULES = Table(
    name="binary_rules",
    file="cuda/architectures.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(Column(name="fact", read=fields.text), *WHENCE),
    core=False,
)

GPU_NAMES = Table(
    name="names",
    file="gpus/names.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(Column(name="capability", read=fields.capabilities), *WHENCE),
)

NAME_TRAPS = Table(
    name="traps",
    file="gpus/names.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(Column(name="capabilities", read=fields.capabilities), *WHENCE),
    core=False,
)

CHIPS = Table(
    name="chips",
    file="gpus/chips.yaml",
    keys=(Column(name="chip", read=fields.matching(r"G[A-Z]\d+[A-Z]?|[TA]\w\d+[A-Z]?", "a chip such as AD102")),),
    columns=(Column(name="capability", read=fields.capability), *WHENCE),
    core=False,
)

TABLES: tuple[Table, ...] = (
    BUILDS,
    OTHER_BUILDS,
    RELEASES,
    COMPANIONS,
    OPEN_PINS,
    COMPLETE,
    COMPANION_BUILDS,
    PYPI_DEFAULT,
    NOT_PUBLISHED,
    ABSENT_TARGETS,
    NUMPY,
    FLOORS,
    TOOLKITS,
    BRANCHES,
    DRIVER_FACTS,
    ARCHITECTURES,
    TEGRA,
    TOOLKIT_TARGETS,
    BINARY_RULES,
    GPU_NAMES,
    NAME_TRAPS,
    CHIPS,
)
