"""The advice about the driver as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.ways.driver import DriverAdvice
from envsolve.ways.driver_compat import Compat

_HEADS = {
    "keep": "keep the driver",
    "update": "update the driver",
    "downgrade": "go back to an older driver",
    "install": "install the driver",
    "impossible": "no driver helps",
    "unknown": "not known",
}


def as_text(advice: DriverAdvice) -> str:
    """All lines; commands are indented and are never run by envsolve."""
    return "\n".join(_lines(advice))


def _lines(advice: DriverAdvice) -> Iterator[str]:
    yield f"{_HEADS[advice.action]}: {advice.reason}"
    yield f"  {advice.cards}: {_limits(advice)}"
    if advice.build is not None and advice.enough is not None:
        yield f"  torch {advice.build.torch} ({advice.build.variant}) needs driver {advice.enough} or newer"
    if advice.branch is not None:
        yield f"  to install: R{advice.branch}"
    for note in advice.notes:
        yield f"  note: {note}"
    for steps in advice.steps:
        yield f"{steps.title}:"
        yield from (f"  {line}" for line in steps.lines)
        if steps.note:
            yield f"  note: {steps.note}"
    if advice.compat is not None:
        yield from _compat(advice.compat)


def _limits(advice: DriverAdvice) -> str:
    if advice.first is None and advice.last is None:
        return "no limit of the branch is known"
    if advice.last is None:
        return f"driven by R{advice.first} and newer"
    return f"driven up to R{advice.last}" if advice.first is None else f"driven by R{advice.first} to R{advice.last}"


def _compat(compat: Compat) -> Iterator[str]:
    sure = "" if compat.certainty == "high" else f", {compat.certainty} certainty"
    yield f"or leave the driver and add {compat.package} (data-centre GPUs only{sure}; source: {compat.source}):"
    yield "  from NVIDIA's CUDA repository, which has to be set up (cuda-keyring, or its .repo file)"
    yield f"  then torch {compat.build.torch} ({compat.build.variant}) runs"
    for system, lines in compat.lines:
        yield f"  {system}: " + "; ".join(lines)
