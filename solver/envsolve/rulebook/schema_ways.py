"""The tables of the ways out: wheels of extensions, base images, limits of source builds, changing the driver.
Compiled into a file of their own: a plain plan needs none of them."""

from __future__ import annotations

from envsolve.rulebook import fields
from envsolve.rulebook.schema import PLATFORMS, WHENCE, Column, Table

_PACKAGE = Column(name="package", read=fields.text)
_TORCH = Column(name="torch", read=fields.specifier)
_VARIANTS = Column(
    name="variants",
    read=fields.matching(r"any|(cpu|xpu|cu\d{2,3}|rocm[\d.]+)( (cpu|xpu|cu\d{2,3}|rocm[\d.]+))*", "a list of variants"),
)
_SPECIFIER = fields.optional(fields.specifier)
_CAPABILITY = fields.optional(fields.capability)
_PLATFORM_LIST = fields.each(fields.choice(*PLATFORMS))
_SYSTEM = Column(name="system", read=fields.choice("ubuntu", "debian", "rhel", "windows", "wsl"))
_NAME = Column(name="name", read=fields.text)


def _table(name: str, file: str, keys: tuple[Column, ...], columns: tuple[Column, ...], section: str = "") -> Table:
    return Table(name=name, file=file, keys=keys, columns=(*columns, *WHENCE), core=False, section=section)


EXTENSION_ABI = _table(
    "extension_abi",
    "ways/extension_wheels.yaml",
    (_NAME,),
    (_TORCH, _VARIANTS, Column(name="abi", read=fields.choice("TRUE", "FALSE"))),
    section="abi",
)

EXTENSION_PACKAGES = _table(
    "extension_packages",
    "ways/extension_wheels.yaml",
    (_PACKAGE,),
    (
        Column(name="home", read=fields.text),
        Column(name="missing", read=fields.choice("refuse", "note")),
        Column(name="asset", read=fields.text, default=""),
        Column(name="never", read=_PLATFORM_LIST, default=""),
    ),
    section="packages",
)

EXTENSION_WHEELS = _table(
    "extension_wheels",
    "ways/extension_wheels.yaml",
    (_PACKAGE, Column(name="version", read=fields.text), _TORCH, _VARIANTS),
    (
        Column(name="platforms", read=_PLATFORM_LIST),
        Column(name="python", read=fields.specifier, default=""),
        Column(name="first", read=_CAPABILITY, default=None),
        Column(name="last", read=_CAPABILITY, default=None),
        Column(name="asset", read=fields.flag, default=False),
    ),
    section="wheels",
)

PYTHON_IMAGES = _table(
    "python_images",
    "ways/images.yaml",
    (Column(name="python", read=fields.dotted),),
    (Column(name="tag", read=fields.text), Column(name="glibc", read=fields.dotted)),
)

TOOLKIT_IMAGES = _table(
    "toolkit_images",
    "ways/images.yaml",
    (Column(name="cuda", read=fields.dotted), Column(name="ubuntu", read=fields.dotted)),
    (
        Column(name="tag", read=fields.text),
        Column(name="glibc", read=fields.dotted),
        Column(name="cudnn", read=fields.whole),
        Column(name="gcc", read=fields.each(fields.whole)),
    ),
)

NGC_FIRST = _table(
    "ngc_first",
    "ways/images.yaml",
    (Column(name="capability", read=fields.capability),),
    (Column(name="month", read=fields.dotted),),
)

OBSTACLES = _table(
    "obstacles",
    "ways/build_limits.yaml",
    (_NAME,),
    (
        _TORCH,
        Column(name="effect", read=fields.choice("stop", "note")),
        Column(name="why", read=fields.text),
        Column(name="cuda", read=_SPECIFIER, default=None),
        Column(name="gcc", read=_SPECIFIER, default=None),
        Column(name="first", read=_CAPABILITY, default=None),
    ),
)

CUDNN = _table(
    "cudnn",
    "ways/build_limits.yaml",
    (_NAME,),
    (_TORCH, Column(name="majors", read=fields.each(fields.whole))),
)

JOB_MEMORY = _table(
    "job_memory",
    "ways/build_limits.yaml",
    (_NAME,),
    (_TORCH, Column(name="mib", read=fields.whole), Column(name="first", read=_CAPABILITY, default=None)),
)

BUILD_COST = _table(
    "build_cost",
    "ways/build_limits.yaml",
    (_NAME,),
    (
        _TORCH,
        Column(name="core_hours", read=fields.whole),
        Column(name="core_hours_each", read=fields.whole),
        Column(name="disk_gib", read=fields.whole),
    ),
)

MODULES = _table(
    "modules",
    "ways/drivers.yaml",
    (Column(name="kind", read=fields.choice("open", "proprietary")),),
    (
        Column(name="first", read=_CAPABILITY, default=None),
        Column(name="last", read=_CAPABILITY, default=None),
        Column(name="default_from", read=fields.whole, default=0),
    ),
)

FORWARD_COMPAT = _table(
    "forward_compat",
    "ways/drivers.yaml",
    (Column(name="cuda", read=fields.dotted),),
    (Column(name="branches", read=fields.each(fields.whole)),),
)

DATACENTRE = _table("datacentre", "ways/drivers.yaml", (Column(name="word", read=fields.text),), ())

COMMANDS = _table(
    "driver_commands",
    "ways/drivers.yaml",
    (_SYSTEM,),
    (
        Column(name="title", read=fields.text),
        Column(name="open", read=fields.texts),
        Column(name="proprietary", read=fields.texts),
        Column(name="hold", read=fields.texts),
    ),
    section="commands",
)

OLD_BRANCHES = _table(
    "old_branches",
    "ways/drivers.yaml",
    (_SYSTEM, Column(name="branch", read=fields.whole)),
    (Column(name="title", read=fields.text), Column(name="lines", read=fields.texts)),
)

COMPAT_COMMANDS = _table("compat_commands", "ways/drivers.yaml", (_SYSTEM,), (Column(name="lines", read=fields.texts),))

ACCELERATORS = _table(
    "accelerators",
    "ways/accelerators.yaml",
    (Column(name="accelerator", read=fields.choice("cuda", "rocm", "xpu", "mps", "cpu")),),
    (
        Column(name="name", read=fields.text),
        Column(name="wheel", read=fields.text),
        Column(name="host", read=fields.text),
        Column(name="device", read=fields.text),
    ),
)

WAYS_TABLES = (
    ACCELERATORS,
    EXTENSION_ABI,
    EXTENSION_PACKAGES,
    EXTENSION_WHEELS,
    PYTHON_IMAGES,
    TOOLKIT_IMAGES,
    NGC_FIRST,
    OBSTACLES,
    CUDNN,
    JOB_MEMORY,
    BUILD_COST,
    MODULES,
    FORWARD_COMPAT,
    DATACENTRE,
    COMMANDS,
    OLD_BRANCHES,
    COMPAT_COMMANDS,
)
