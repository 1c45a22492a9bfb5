"""Visible: the GPUs that CUDA_VISIBLE_DEVICES leaves, by index or by UUID, in the machine's order."""

from __future__ import annotations

from envsolve.errors import InputError
from envsolve.machine.machine import Machine


def visible(machine: Machine, mask: str | None) -> tuple[int, ...]:
    """Indexes of the GPUs that a mask shows; without a mask all of them.

    As CUDA reads it: the first entry that names no GPU ends the list. Raises InputError where nothing is left.
    """
    if mask is None:
        return tuple(range(len(machine.gpus)))
    shown: list[int] = []
    for entry in mask.split(","):
        index = _index(entry.strip(), machine)
        if index is None:
            break
        shown.append(index)
    if not shown:
        raise InputError(
            f"CUDA_VISIBLE_DEVICES={mask} hides every GPU", hint="unset CUDA_VISIBLE_DEVICES, or use --gpus all"
        )
    return tuple(sorted(set(shown)))


def _index(entry: str, machine: Machine) -> int | None:
    """The GPU of one entry: 0, GPU-<uuid or its beginning>, MIG-GPU-<uuid>/…"""
    if entry.isdecimal():
        return int(entry) if int(entry) < len(machine.gpus) else None
    uuid = entry.removeprefix("MIG-").split("/")[0]
    fits = [i for i, g in enumerate(machine.gpus) if uuid.startswith("GPU-") and g.uuid and g.uuid.startswith(uuid)]
    return fits[0] if len(fits) == 1 else None
