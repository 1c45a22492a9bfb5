"""Own cards: of the cards that a person lists, those that torch is for. A laptop's second card is no other choice."""

from __future__ import annotations

import re

from envsolve.machine.machine import Gpu, Problem, Vendor
from envsolve.machine.words import vendor_of
from envsolve.regex import regex

# In order: who has an NVIDIA card wants CUDA, whatever graphics the processor has beside it.
_ORDER: tuple[Vendor, ...] = ("nvidia", "amd", "intel", "apple")
_MAKERS = {"nvidia": "NVIDIA's", "amd": "AMD's", "intel": "Intel's", "apple": "Apple's"}
# The graphics inside a processor, by names that say nothing else.
_INTEGRATED = regex(
    r"\b(?:u?hd graphics|iris|(?:intel(?:\(r\))?|radeon(?:\(tm\)|™)?(?: vega(?: \d+)?)?) graphics)\b", re.IGNORECASE
)


def own_cards(
    gpus: tuple[Gpu, ...], vendor: Vendor | None
) -> tuple[tuple[Gpu, ...], Vendor | None, tuple[Problem, ...]]:
    """The cards of one maker, whose they are, and a problem for each card that is left out."""
    if not gpus:
        return gpus, vendor, ()
    makers = {_maker(gpu, vendor) for gpu in gpus}
    discrete = {_maker(gpu, vendor) for gpu in gpus if not _integrated(gpu)}
    own: Vendor = vendor if vendor is not None else next(maker for maker in _ORDER if maker in (discrete or makers))
    mine = [gpu for gpu in gpus if _maker(gpu, vendor) == own]
    kept = [gpu for gpu in mine if not _integrated(gpu)] or mine or list(gpus)
    left = [gpu for gpu in gpus if gpu not in kept]
    return tuple(kept), own, tuple(_left_out(gpu, own) for gpu in left)


def _maker(gpu: Gpu, vendor: Vendor | None) -> Vendor:
    """A card without a name is of the machine's maker; one with a capability is NVIDIA's."""
    if gpu.gfx is not None:
        return "amd"
    if gpu.compute_capability is not None or gpu.name is None:
        return vendor or "nvidia"
    return vendor_of(gpu.name)


def _integrated(gpu: Gpu) -> bool:
    return gpu.gfx is None and gpu.compute_capability is None and bool(_INTEGRATED.search(gpu.name or ""))


def _left_out(gpu: Gpu, own: Vendor) -> Problem:
    why = f"is not {_MAKERS[own]}" if own in _MAKERS and not _integrated(gpu) else "is the processor's own graphics"
    return Problem(code="other-card", text=f"{gpu.name} {why}: left out")
