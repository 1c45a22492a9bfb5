"""Cards: the GPUs of a machine with the capabilities that their names or the driver tell."""

from __future__ import annotations

import re

from envsolve.capability import Capability
from envsolve.judge.driver import branch_limits
from envsolve.judge.identify import identify
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_tables import Ways

_NOT_DATACENTRE = {"RTX", "GTX", "GEFORCE", "QUADRO", "TITAN"}


def identified(machine: Machine, rulebook: Rulebook) -> Machine:
    """The machine with a capability for every GPU whose name decides it."""
    return replace(machine, gpus=tuple(identify(gpu, rulebook).gpu for gpu in machine.gpus))


def capabilities(machine: Machine) -> tuple[Capability, ...] | None:
    """The different capabilities of the machine's GPUs, ascending; None where one of them is not known."""
    found = [gpu.compute_capability for gpu in machine.gpus]
    if not found or None in found:
        return None
    return tuple(sorted({c for c in found if c is not None}))


def names(machine: Machine) -> str:
    """ "2x RTX 3090 (8.6), GTX 1080 Ti (6.1)" """
    shown = [f"{g.name or 'GPU'} ({g.compute_capability or 'unknown'})" for g in machine.gpus]
    counted = {text: shown.count(text) for text in shown}
    return ", ".join(text if count == 1 else f"{count}x {text}" for text, count in counted.items())


def drivable(found: tuple[Capability, ...], rulebook: Rulebook) -> tuple[int | None, int | None]:
    """The first and the last driver branch that drive all of these; first > last: no driver does.

    A first branch that the rules are not sure of counts for nothing, as in the judgement.
    """
    limits = [_limits(c, rulebook) for c in found]
    first = max((f for f, _ in limits if f is not None), default=None)
    last = min((e for _, e in limits if e is not None), default=None)
    return first, last


def _limits(capability: Capability, rulebook: Rulebook) -> tuple[int | None, int | None]:
    first, last = branch_limits(capability, rulebook)
    architecture = rulebook.architecture(capability)
    doubtful = architecture is not None and architecture.first_branch_certainty == "low"
    return None if doubtful else first, last


def datacentre(machine: Machine, ways: Ways) -> bool:
    """Whether all GPUs are data-centre products, by the words of their names."""
    words = [set(re.split(r"[^A-Z0-9]+", (gpu.name or "").upper())) for gpu in machine.gpus]
    return bool(words) and all(w & ways.datacentre_words and not w & _NOT_DATACENTRE for w in words)
