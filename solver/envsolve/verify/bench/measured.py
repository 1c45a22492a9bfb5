"""Measured: the numbers of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from envsolve.record import record

# Units of which less is better; of the others (rates), more is.
_LESS_IS_BETTER = {"ms"}


@record
class Measured:
    """One quantity on one device: its value in each run, in `unit` (TFLOP/s, GB/s, images/s, ms)."""

    device: str
    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def spread(self) -> float:
        """The distance of the furthest run from the median, as a share of it."""
        middle = self.median
        return max(abs(value - middle) for value in self.values) / middle if middle else 0.0

    def times_faster_than(self, other: Measured) -> float:
        """Above 1: this one is faster, whether less or more of the unit is better."""
        ratio = self.median / other.median
        return 1 / ratio if self.unit in _LESS_IS_BETTER else ratio


@record
class NotMeasured:
    """What could not be measured on a device, and why."""

    device: str
    name: str
    reason: str


@record
class Benchmark:
    """All numbers of one environment; `devices` maps "cuda:0" to the model's name."""

    environment: str
    python: str
    torch: str
    devices: Mapping[str, str]
    measured: tuple[Measured, ...]
    not_measured: tuple[NotMeasured, ...] = ()

    def like(self, one: Measured) -> Measured | None:
        """The same quantity on the same device here, None if it was not measured."""
        return next((m for m in self.measured if (m.device, m.name, m.unit) == (one.device, one.name, one.unit)), None)


def measured_from(device: str, value: Mapping[str, Any]) -> tuple[tuple[Measured, ...], tuple[NotMeasured, ...]]:
    """The rows of a probe's answer. Raises KeyError, TypeError or ValueError for anything else."""
    rows = tuple(
        Measured(
            device=device, name=str(r["name"]), unit=str(r["unit"]), values=tuple(float(v) for v in _some(r["values"]))
        )
        for r in value["rows"]
    )
    skipped = (str(text).partition(": ") for text in value.get("skipped", ()))
    return rows, tuple(NotMeasured(device=device, name=f"ResNet-50, {name}", reason=why) for name, _, why in skipped)


def _some(values: Any) -> Any:
    if not values:
        raise ValueError("no run was timed")
    return values
