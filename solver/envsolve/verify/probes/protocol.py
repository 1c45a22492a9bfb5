# ruff: noqa: UP006, UP035
"""The words that the steps of a child share: what a step is given, and what it gives back."""

from typing import Any, Dict, NamedTuple, Tuple

Facts = Dict[str, Any]


class Context(NamedTuple):
    """What a step works with: the torch module (None for a step without), and the device ("cpu", "cuda:1", "mps")."""

    torch: Any
    device: str
    options: Facts


class Skip(Exception):
    """A step that can't be made here, with the reason; not a failure."""


def release(torch: Any) -> Tuple[int, ...]:
    """The torch release as integers: "2.11.0+cu130" -> (2, 11)."""
    numbers = []
    for part in str(torch.__version__).split("+")[0].split(".")[:2]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)


def is_cuda(device: str) -> bool:
    """A device that torch.cuda serves: NVIDIA, or AMD with a ROCm build."""
    return device.startswith("cuda")


def synchronize(torch: Any, device: str) -> None:
    """Wait for the device, so that an error shows in the step that made it and not in a later one."""
    if is_cuda(device):
        torch.cuda.synchronize(device)
    elif device.startswith("xpu"):
        torch.xpu.synchronize(device)
    elif device.startswith("mps"):
        torch.mps.synchronize()
