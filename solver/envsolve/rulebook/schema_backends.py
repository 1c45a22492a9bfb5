"""Schema of the tables for AMD and Intel GPUs."""

from __future__ import annotations

from envsolve.rulebook import fields
from envsolve.rulebook.schema import WHENCE, Column, Table

_GFX = fields.matching(r"gfx[0-9a-f]{3,4}", "a gfx target such as gfx1100")
_ROCM = fields.matching(r"rocm\d+(\.\d+)+", "a ROCm variant such as rocm6.4")
_MINOR = fields.matching(r"\d+\.\d+", "a torch minor such as 2.9")
_ROCM_FILE = "backends/rocm.yaml"


def _facts(name: str, file: str, section: str = "facts") -> Table:
    """Facts in words."""
    return Table(
        name=name,
        file=file,
        section=section,
        keys=(Column(name="name", read=fields.text),),
        columns=(Column(name="fact", read=fields.text), *WHENCE),
        core=False,
    )


GFX_TARGETS = Table(
    name="gfx_targets",
    section="targets",
    file=_ROCM_FILE,
    keys=(Column(name="variant", read=_ROCM), Column(name="torch", read=_MINOR)),
    columns=(Column(name="gfx", read=fields.optional(fields.each(_GFX))), *WHENCE),
)

GFX_UNUSABLE = Table(
    name="gfx_unusable",
    section="unusable",
    file=_ROCM_FILE,
    keys=(Column(name="gfx", read=_GFX), Column(name="first", read=_ROCM)),
    columns=(Column(name="last", read=_ROCM, default=None), Column(name="fact", read=fields.text), *WHENCE),
)

AMD_INDEXES = Table(
    name="amd_indexes",
    file=_ROCM_FILE,
    keys=(Column(name="address", read=fields.text),),
    columns=(
        Column(name="torch", read=fields.optional(fields.text)),
        Column(name="gfx", read=fields.optional(fields.each(_GFX))),
        Column(name="layout", read=fields.text),
        *WHENCE,
    ),
    core=False,
)

KERNEL_DRIVERS = Table(
    name="kernel_drivers",
    file=_ROCM_FILE,
    keys=(Column(name="kernel_driver", read=fields.dotted),),
    columns=(
        Column(name="user_space_min", read=fields.dotted),
        Column(name="user_space_max", read=fields.dotted),
        *WHENCE,
    ),
    core=False,
)

AMD_PRODUCTS = Table(
    name="amd_products",
    section="products",
    file="backends/amd_products.yaml",
    keys=(Column(name="product", read=fields.text),),
    columns=(Column(name="gfx", read=_GFX), *WHENCE),
)

XPU_SUPPORT = Table(
    name="xpu_support",
    section="support",
    file="backends/xpu.yaml",
    keys=(Column(name="torch", read=_MINOR),),
    columns=(
        Column(name="hardware", read=fields.texts),
        Column(name="os", read=fields.text),
        Column(name="status", read=fields.text),
        *WHENCE,
    ),
    core=False,
)

XPU_PRODUCTS = Table(
    name="xpu_products",
    section="products",
    file="backends/xpu.yaml",
    keys=(Column(name="words", read=fields.text),),
    columns=(Column(name="first", read=fields.optional(_MINOR)), *WHENCE),
)

BACKEND_TABLES = (
    GFX_TARGETS,
    GFX_UNUSABLE,
    AMD_INDEXES,
    KERNEL_DRIVERS,
    _facts("rocm_facts", _ROCM_FILE),
    AMD_PRODUCTS,
    XPU_SUPPORT,
    XPU_PRODUCTS,
    _facts("xpu_facts", "backends/xpu.yaml"),
    _facts("directml", "backends/xpu.yaml", "directml"),
)
