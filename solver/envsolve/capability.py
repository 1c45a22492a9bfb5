"""Capability: the compute capability of a GPU, and the code targets of a wheel."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from envsolve.record import record
from envsolve.regex import regex

_CAPABILITY = regex(r"(\d{1,2})\.(\d)", re.ASCII)
_TARGET = regex(r"(sm|compute)_(\d{2,3})([af]?)", re.ASCII)


class Capability(NamedTuple):
    """Compute capability as major.minor, e.g. 8.9; orders as numbers (9.0 < 10.0 < 12.0)."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Capability:
        """Read "8.9". Raises ValueError for anything else."""
        match = _CAPABILITY.fullmatch(text.strip())
        if not match:
            raise ValueError(f"not a compute capability: {text!r}")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def from_number(cls, number: int) -> Capability:
        """Read the tenfold form of the rules: 89 -> 8.9, 120 -> 12.0."""
        return cls(*divmod(number, 10))

    @property
    def number(self) -> int:
        """The tenfold form: 8.9 -> 89."""
        return self.major * 10 + self.minor

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@record
class Target:
    """One entry of a build's arch list: a cubin (sm_86) or PTX (compute_90), with the suffix of nvcc (a, f)."""

    kind: Literal["sm", "compute"]
    capability: Capability
    suffix: Literal["", "a", "f"] = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read "sm_86", "compute_90" or "sm_90a". Raises ValueError for anything else."""
        match = _TARGET.fullmatch(text.strip())
        if not match:
            raise ValueError(f"not a code target: {text!r}")
        kind, number, suffix = match.groups()
        return cls(kind=kind, capability=Capability.from_number(int(number)), suffix=suffix)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.kind}_{self.capability.number}{self.suffix}"
