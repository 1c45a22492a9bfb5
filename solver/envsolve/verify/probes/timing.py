"""Time an action on a device: warm-up first, then several runs of enough repetitions each."""

import time
from typing import Any

from .protocol import Context, Facts, Skip, synchronize

LEAST_S = 0.1  # a run lasts about as long, so that the clock's grain and the launch of a kernel don't count
WARM_S = 0.5  # GPUs raise their clocks within less
MOST = 1000


def duration(context: Context, action: Any, repeat: int) -> float:
    """Seconds per repetition, the device's work included."""
    synchronize(context.torch, context.device)
    began = time.perf_counter()
    for _ in range(repeat):
        action()
    synchronize(context.torch, context.device)
    return (time.perf_counter() - began) / repeat


def timed(context: Context, action: Any) -> Any:
    """Seconds per repetition of each run; `options` says how many runs."""
    began = time.perf_counter()
    once = duration(context, action, 1)
    while time.perf_counter() - began < WARM_S:
        once = min(once, duration(context, action, 1))
    repeat = max(1, min(MOST, int(LEAST_S / max(once, 1e-9))))
    return [duration(context, action, repeat) for _ in range(context.options["runs"])]


def rate(context: Context, name: str, unit: str, amount: float, action: Any) -> Facts:
    """A row: `amount` of `unit` per second in each run. Raises Skip when the device's memory is too small."""
    try:
        seconds = timed(context, action)
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise Skip("the GPU's free memory is too small") from None
        raise
    return {"name": name, "unit": unit, "values": [amount / s for s in seconds]}
