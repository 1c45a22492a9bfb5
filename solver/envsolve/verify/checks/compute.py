"""What was computed on a device against its references."""

from __future__ import annotations

from collections.abc import Sequence

from envsolve.verify.checks.ends import read, unhappy
from envsolve.verify.child import Ended
from envsolve.verify.facts import Measure, measures
from envsolve.verify.report import Check
from envsolve.verify.steps import IMPORT

_WRONG = "wrong results: test this device's memory and driver; another build: envsolve plan"


def compute(device: str, ended: Ended) -> Check:
    """One step on one device: `compute cuda:0 matmul fp16`."""
    if ended.step == IMPORT:
        return unhappy(f"{IMPORT} for {device}", ended, "it loads, as it did before")
    name = f"compute {device} {ended.step}"
    found = read(ended, measures)
    if isinstance(found, Ended):
        return unhappy(name, found, "the right result")
    return judge(name, found, ended.seconds)


def judge(name: str, found: Sequence[Measure], seconds: float) -> Check:
    """Every comparison must be close; the worst one is shown."""
    wrong = [m for m in found if not m.close]
    worst = max(found, key=lambda m: m.error / (m.tolerance or 1))
    return Check(
        name=name,
        outcome="failed" if wrong else "passed",
        expected="; ".join(_allowed(m) for m in (wrong or [worst])),
        seen="; ".join(str(m) for m in (wrong or [worst])),
        hint=_WRONG if wrong else "",
        seconds=seconds,
    )


def _allowed(measure: Measure) -> str:
    if measure.tolerance == 0:
        return f"{measure.what}: exactly the reference"
    return f"{measure.what}: relative error up to {measure.tolerance:g}"
