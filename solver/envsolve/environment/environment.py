"""Environment: a named or project-local isolated environment that envsolve made."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from envsolve.record import record

State = Literal["verified", "unverified", "failed"]


@record
class Environment:
    """Where an environment is and what is known of it. `name` is "" for a project-local one (--path)."""

    name: str
    path: Path
    interpreter: Path
    python: str
    state: State
    lock_sha256: str
    variant: str
    torch: str
    size_bytes: int | None = None
