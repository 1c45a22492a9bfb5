"""Compare a result of the device with a reference: relative norm in float64 on the CPU, or exact."""

from typing import Any

from .protocol import Facts


def host(tensor: Any) -> Any:
    """The tensor in float64 on the CPU."""
    return tensor.detach().cpu().double()


def relative(what: str, result: Any, reference: Any, tolerance: float) -> Facts:
    """||result - reference|| / ||reference||; the reference is in float64 on the CPU. NaN never counts as close."""
    gap = (host(result) - reference).norm().item()
    size = reference.norm().item()
    return {"what": what, "error": gap / size if size else gap, "tolerance": tolerance}


def exact(what: str, result: Any, reference: Any) -> Facts:
    """How many elements of two lists differ (a difference in length counts too); none may."""
    wrong = sum(1 for got, want in zip(result, reference) if got != want)  # noqa: B905 - strict= is Python 3.10
    return {"what": what, "error": wrong + abs(len(result) - len(reference)), "tolerance": 0}
