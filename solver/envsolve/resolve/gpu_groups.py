"""GPU groups: which cards of a mixed box one build can serve together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from envsolve.machine.machine import Machine
from envsolve.resolve.row import Row

Solve = Callable[[Machine], Row | None]
Group = tuple[tuple[int, ...], Row]  # GPU indexes, and the row that serves them


def best_subset(machine: Machine, solve: Solve) -> Group | None:
    """The largest proper subset of the GPUs that one build serves; of equally large ones the newest torch."""
    return _largest(machine, tuple(range(len(machine.gpus))), solve, proper=True)


def separate(machine: Machine, solve: Solve) -> tuple[Group, ...]:
    """A few groups that together hold every GPU, each served by one build; empty if some GPU is served by none."""
    left = tuple(range(len(machine.gpus)))
    groups: list[Group] = []
    while left:
        group = _largest(machine, left, solve, proper=False)
        if group is None:
            return ()
        groups.append(group)
        left = tuple(i for i in left if i not in group[0])
    return tuple(groups)


def _largest(machine: Machine, indexes: Sequence[int], solve: Solve, *, proper: bool) -> Group | None:
    kinds: dict[object, list[int]] = {}
    for i in indexes:
        kinds.setdefault(machine.gpus[i].compute_capability, []).append(i)
    found: list[Group] = []
    for size in range(len(kinds) - (1 if proper else 0), 0, -1):
        for chosen in itertools.combinations(kinds.values(), size):
            ids = tuple(sorted(itertools.chain.from_iterable(chosen)))
            row = solve(replace(machine, gpus=tuple(machine.gpus[i] for i in ids)))
            if row is not None:
                found.append((ids, row))
        if found:
            return max(found, key=lambda g: (len(g[0]), g[1].rank))
    return None
