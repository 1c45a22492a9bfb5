"""Steps: what a child of verification is asked to do, by name, and the probe that does it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A step's name, as reports show it, and the function below probes/ that makes it ("matmul:fp32")."""

    name: str
    call: str


IMPORT = "import torch"
SURVEY = Step("survey", "survey:survey")
BUILD = Step("build", "build:build")
DRIVER = Step("driver", "build:driver")

COMPUTE = (
    Step("matmul fp32", "matmul:fp32"),
    Step("matmul tf32", "matmul:tf32"),
    Step("matmul fp16", "matmul:fp16"),
    Step("matmul bf16", "matmul:bf16"),
    Step("matmul fp8", "matmul:fp8"),
    Step("conv2d", "layers:conv2d"),
    Step("attention", "layers:attention"),
    Step("reduction", "classic:reduction"),
    Step("sort", "classic:sort"),
    Step("indexing", "classic:indexing"),
    Step("fft", "classic:fft"),
    Step("linear solve", "classic:solve"),
    Step("autograd step", "layers:autograd"),
    Step("pinned copies", "classic:copies"),
)
COMPANIONS = {
    "torchvision": (Step("torchvision nms", "companions:nms"), Step("torchvision resize", "companions:resize")),
    "torchaudio": (
        Step("torchaudio spectrogram", "companions:spectrogram"),
        Step("torchaudio lfilter", "companions:lfilter"),
        Step("torchaudio rnnt_loss", "companions:rnnt_loss"),
    ),
}

OWN_KERNELS = Step("own kernels", "native:own_kernels")
TORCHVISION_KERNELS = Step("torchvision kernels", "companions:nms")
COMPILED = Step("torch.compile", "compiled:compiled")
ALL_REDUCE = Step("nccl", "nccl:all_reduce")


def compute_steps(packages: Collection[str]) -> tuple[Step, ...]:
    """What is computed on each device in an environment that is to hold these packages."""
    return COMPUTE + tuple(step for name, more in COMPANIONS.items() if name in packages for step in more)
