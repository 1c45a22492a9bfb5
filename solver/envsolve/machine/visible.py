"""CUDA_VISIBLE_DEVICES: which GPUs a program will see, by index and by UUID."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envsolve.machine.machine import Gpu, Problem

VARIABLE = "CUDA_VISIBLE_DEVICES"


def visible(gpus: Sequence[Gpu], mask: str | None) -> tuple[int, ...]:
    """The positions of the GPUs that a mask leaves, in the mask's order; all without a mask.

    As CUDA reads it: indexes or (the start of) UUIDs; the first entry that names no GPU ends the list.
    """
    if mask is None:
        return tuple(range(len(gpus)))
    found: list[int] = []
    for entry in (part.strip() for part in mask.split(",")):
        position = _position(gpus, entry)
        if position is None:
            break
        if position not in found:
            found.append(position)
    return tuple(found)


def hidden_by_mask(environ: Mapping[str, str], gpus: Sequence[Gpu]) -> tuple[Problem, ...]:
    """The problem of a mask that hides GPUs of this machine from programs."""
    mask = environ.get(VARIABLE)
    seen = visible(gpus, mask)
    if mask is None or not gpus or len(seen) == len(gpus):
        return ()
    lost = [str(p) for p in range(len(gpus)) if p not in seen]
    which = "every GPU" if not seen else f"GPU {', '.join(lost)}"
    return (Problem(code="gpu-hidden", text=f"{VARIABLE}={mask!r} hides {which} from programs"),)


def _position(gpus: Sequence[Gpu], entry: str) -> int | None:
    if entry.isdecimal() and entry.isascii():
        return int(entry) if int(entry) < len(gpus) else None
    if entry.startswith("MIG-"):  # a slice: which card it is on can't be told from here, so the card counts as seen
        return next((i for i, gpu in enumerate(gpus) if gpu.mig), None)
    matching = [i for i, gpu in enumerate(gpus) if gpu.uuid and entry.startswith("GPU-") and gpu.uuid.startswith(entry)]
    return matching[0] if len(matching) == 1 else None
