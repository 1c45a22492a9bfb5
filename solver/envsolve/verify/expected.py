"""Expected: what a plan or a lock promises, and verification must find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from envsolve.record import record

Device = Literal["cuda", "cpu", "mps", "rocm", "xpu"]


@record
class Expected:
    """The promises of a plan.

    `versions` maps canonical names to versions as pip shows them (torch -> "2.11.0+cu130"); `cuda` is the wheel's CUDA
    ("13.0") or "" for a build without; `targets` is the arch list that the rules hold for the build (("sm_90", ...),
    empty = unknown); `gpu_codes` the promised code per GPU in order (("sm_90",), empty = no GPU is to be used).
    `locked` False: no lock says it, the environment's own files do.
    """

    versions: Mapping[str, str]
    device: Device
    cuda: str = ""
    targets: tuple[str, ...] = ()
    gpu_codes: tuple[str, ...] = ()
    python: str = ""
    locked: bool = True
