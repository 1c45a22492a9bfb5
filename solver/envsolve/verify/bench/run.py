"""benchmark(): measure every device, in child processes inside the environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envsolve.verify.bench.measured import Benchmark, Measured, NotMeasured, measured_from
from envsolve.verify.checks.driver import promised_code
from envsolve.verify.checks.ends import read
from envsolve.verify.child import Ended, Order, run
from envsolve.verify.expected import Expected
from envsolve.verify.facts import DriverFacts
from envsolve.verify.report import Report
from envsolve.verify.steps import DRIVER, IMPORT, Step

_FIRST = Step("first kernel", "bench_raw:first_kernel")
_STEPS = (
    Step("matmul fp32", "bench_raw:fp32"),
    Step("matmul tf32", "bench_raw:tf32"),
    Step("matmul fp16", "bench_raw:fp16"),
    Step("matmul bf16", "bench_raw:bf16"),
    Step("matmul fp8", "bench_raw:fp8"),
    Step("copies", "bench_raw:copies"),
    Step("ResNet-50", "resnet:run"),
)
# A GPU needs work that fills it; a CPU would take minutes for the same.
_ON_GPU = {"runs": 7, "size": 8192, "side": 224, "batches": [64, 128]}
_ON_CPU = {"runs": 3, "size": 1024, "side": 224, "batches": [4]}
_FIRST_RUNS = 3
LIMIT_S = 900.0


def benchmark(
    interpreter: Path,
    expected: Expected,
    report: Report,
    *,
    timeout_s: float = LIMIT_S,
    progress: Callable[[str], None] = lambda line: None,
) -> Benchmark:
    """Measure an environment whose verification gave `report`. What can't be measured is named with its reason.

    `timeout_s` bounds each child process.
    """
    session = _Session(interpreter, expected.device, timeout_s, progress)
    devices = session.devices(expected)
    rows: list[Measured] = []
    gaps: list[NotMeasured] = []
    for device in devices:
        for ended in session.ends(device):
            found, skipped = _rows(device, ended)
            rows += found
            gaps += skipped
    return Benchmark(
        environment=report.environment,
        python=report.python,
        torch=report.torch,
        devices=devices,
        measured=tuple(_merged(rows)),
        not_measured=tuple(gaps),
    )


@dataclass(frozen=True, slots=True)
class _Session:
    interpreter: Path
    kind: str
    timeout_s: float
    progress: Callable[[str], None]

    def devices(self, expected: Expected) -> Mapping[str, str]:
        """The devices that the plan covers, with their models."""
        if self.kind == "cpu":
            return {"cpu": "CPU"}
        facts = read(self._child("cpu", (DRIVER,), {})[0], DriverFacts.from_json)
        if isinstance(facts, Ended):
            return {}
        return {d.device: d.model for d in facts.devices if promised_code(d, expected) is not None}

    def ends(self, device: str) -> Iterator[Ended]:
        """Every step on a device; the first kernel in processes of its own, since each has only one."""
        for _ in range(_FIRST_RUNS):
            yield self._child(device, (_FIRST,), {})[0]
        yield from self._child(device, _STEPS, _ON_CPU if device == "cpu" else _ON_GPU)

    def _child(self, device: str, steps: tuple[Step, ...], options: Mapping[str, Any]) -> tuple[Ended, ...]:
        order = Order(
            interpreter=self.interpreter,
            steps=steps,
            timeout_s=self.timeout_s,
            device=device,
            options={"kind": self.kind, **options},
        )
        return run(order, lambda step: self.progress(f"measuring {device}: {step}") if step != IMPORT else None)


def _rows(device: str, ended: Ended) -> tuple[tuple[Measured, ...], tuple[NotMeasured, ...]]:
    found = read(ended, lambda value: measured_from(device, value))
    if isinstance(found, Ended):
        reason = found.text if found.end == "skipped" else f"{found.end}: {found.text}"
        return (), (NotMeasured(device=device, name=ended.step, reason=reason),)
    return found


def _merged(rows: list[Measured]) -> Iterator[Measured]:
    """Rows of one name in several processes become one with all their values."""
    together: dict[tuple[str, str, str], tuple[float, ...]] = {}
    for row in rows:
        key = (row.device, row.name, row.unit)
        together[key] = together.get(key, ()) + row.values
    for (device, name, unit), values in together.items():
        yield Measured(device=device, name=name, unit=unit, values=values)
