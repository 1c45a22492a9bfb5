"""All tables and documents of the rules."""

from __future__ import annotations

from envsolve.rulebook.schema import Document, Table
from envsolve.rulebook.schema_backends import BACKEND_TABLES
from envsolve.rulebook.schema_cuda import CUDA_TABLES
from envsolve.rulebook.schema_doctor import DOCTOR_TABLES
from envsolve.rulebook.schema_torch import TORCH_TABLES
from envsolve.rulebook.schema_ways import WAYS_TABLES

TABLES: tuple[Table, ...] = (*TORCH_TABLES, *CUDA_TABLES, *BACKEND_TABLES, *DOCTOR_TABLES, *WAYS_TABLES)

DOCUMENTS = (
    Document(name="containers", file="ways/containers.yaml"),
    Document(name="source_build", file="ways/source_build.yaml"),
    Document(name="extensions", file="ways/extensions.yaml"),
    Document(name="beliefs", file="ways/beliefs.yaml"),
    Document(name="pypi_wheels", file="torch/pypi_wheels.yaml"),
)
