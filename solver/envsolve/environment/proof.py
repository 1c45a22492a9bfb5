"""Proof: what verification said of a build, as far as an environment keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from envsolve.record import record


@record
class Proof:
    """Whether a build was verified, the names of the checks that failed, and the report as JSON values."""

    verified: bool
    failed: tuple[str, ...]
    report: Mapping[str, Any]


# Proves the environment of an interpreter; given by whoever knows what was promised.
Prover = Callable[[Path], Proof]
