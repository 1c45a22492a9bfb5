"""Request: what the user asks for, apart from the machine."""

from __future__ import annotations

from typing import Literal

from packaging.requirements import Requirement

from envsolve.record import record

TRIO = ("torch", "torchvision", "torchaudio")


@record
class Request:
    """The requirements and the choices around them.

    `gpus` is "all", "best", "visible" or a tuple of GPU indexes; `variant` a folder of the PyTorch index the plan must
    come from; `source` "pypi" asks for the plain wheels of the default Python index.
    """

    requirements: tuple[Requirement, ...]
    variant: str | None = None
    gpus: Literal["all", "best", "visible"] | tuple[int, ...] = "all"
    source: Literal["pytorch", "pypi"] = "pytorch"
    constraints: tuple[Requirement, ...] = ()  # bind a package's version only if it is needed
    mirror: str = ""  # base address in place of the PyTorch index
    sdists: bool = False  # source archives may stand in where a package has no wheel; building one runs its code
    target: str = ""  # the user's --target, repeated in the commands that remedies show
