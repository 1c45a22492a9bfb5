"""Schema of the torch tables: builds, companions, what is published."""

from __future__ import annotations

from envsolve.rulebook import fields
from envsolve.rulebook.schema import PLATFORMS, WHENCE, Column, Table

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

PYTHONS = Table(
    name="pythons",
    file="torch/pythons.yaml",
    keys=(Column(name="python", read=fields.matching(r"3\.\d+", "a Python minor such as 3.12")),),
    columns=(Column(name="end_of_life", read=fields.month), *WHENCE),
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

TORCH_TABLES = (
    BUILDS,
    OTHER_BUILDS,
    RELEASES,
    PYTHONS,
    COMPANIONS,
    OPEN_PINS,
    COMPLETE,
    COMPANION_BUILDS,
    PYPI_DEFAULT,
    NOT_PUBLISHED,
    ABSENT_TARGETS,
    NUMPY,
)
