"""Schema of the CUDA tables: drivers, architectures, GPU names."""

from __future__ import annotations

from envsolve.rulebook import fields
from envsolve.rulebook.schema import CERTAINTY, WHENCE, Column, Table

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
        Column(name="end_of_life", read=fields.month, default=""),
        Column(name="ended", read=fields.flag, default=False),
        Column(name="end_certainty", read=CERTAINTY.read, default=None),
        *WHENCE,
    ),
)

DRIVER_FACTS = Table(
    name="driver_facts",
    section="facts",
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
        Column(name="first_branch_certainty", read=CERTAINTY.read, default=None),
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
)

SUPERCHIPS = Table(
    name="superchips",
    file="gpus/superchips.yaml",
    keys=(Column(name="name", read=fields.text),),
    columns=(Column(name="arch", read=fields.choice("aarch64", "x86_64")), *WHENCE),
)

CUDA_TABLES = (
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
    SUPERCHIPS,
)
