"""Identify: a capability for each GPU, from what the driver said or else from its name."""

from __future__ import annotations

from envsolve.capability import Capability
from envsolve.machine.machine import Gpu
from envsolve.record import record, replace
from envsolve.rulebook.rulebook import Rulebook


@record
class Identity:
    """A GPU and the capabilities it may have: one = known, several = the name does not decide, none = unknown."""

    gpu: Gpu
    possible: tuple[Capability, ...]
    by_name: bool
    near: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        return len(self.possible) == 1


def identify(gpu: Gpu, rulebook: Rulebook) -> Identity:
    """What is known of one GPU. A capability that the driver reported is never overruled by the name."""
    if gpu.compute_capability is not None:
        return Identity(gpu=gpu, possible=(gpu.compute_capability,), by_name=False)
    if gpu.name is None:
        return Identity(gpu=gpu, possible=(), by_name=False)
    match = rulebook.gpu_names.find(gpu.name)
    possible = tuple(sorted(set(match.capabilities)))
    identified = replace(gpu, compute_capability=possible[0]) if len(possible) == 1 else gpu
    return Identity(gpu=identified, possible=possible, by_name=True, near=match.near)
