"""GPU groups: which cards of a mixed box one build can serve together, and how few environments serve them all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from packaging.version import Version

from envsolve.machine.machine import Gpu, Machine
from envsolve.record import record, replace
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import survey
from envsolve.rulebook.rulebook import Rulebook

Kind = tuple[object, ...]  # cards of one kind are judged alike


@record
class Group:
    """Cards that one build serves together: their indexes, and the best row for them."""

    gpus: tuple[int, ...]
    row: Row


@record
class Cover:
    """What builds serve of a mixed box: each kind of card with its indexes, and the largest sets of kinds."""

    kinds: Mapping[Kind, tuple[int, ...]]
    largest: tuple[frozenset[Kind], ...]

    def cards(self, kinds: Iterable[Kind]) -> tuple[int, ...]:
        """The indexes of the cards of some kinds."""
        return tuple(sorted(i for kind in kinds for i in self.kinds[kind]))


def cover(machine: Machine, request: Request, rulebook: Rulebook) -> Cover:
    """Which sets of kinds some build serves, without those that another one holds. A build serves a set if it serves
    each kind alone, so that one survey a kind is enough."""
    kinds = _kinds(machine)
    served: dict[tuple[Version, str], set[Kind]] = {}
    for kind, indexes in kinds.items():
        alone = replace(machine, gpus=(machine.gpus[indexes[0]],))
        for row in survey(alone, request, rulebook).running:
            served.setdefault((row.build.torch, row.build.variant), set()).add(kind)
    masks = {frozenset(found) for found in served.values()}
    return Cover(kinds=kinds, largest=tuple(mask for mask in masks if not any(mask < other for other in masks)))


def clash(found: Cover) -> tuple[int, ...]:
    """The fewest cards that no build serves together, one of each kind; () where some build serves them all."""
    for size in range(1, len(found.kinds) + 1):
        for kinds in itertools.combinations(found.kinds, size):
            if not any(frozenset(kinds) <= mask for mask in found.largest):
                return tuple(sorted(found.kinds[kind][0] for kind in kinds))
    return ()


def best_groups(machine: Machine, found: Cover, request: Request, rulebook: Rulebook) -> tuple[Group, ...]:
    """The groups that can't be enlarged, the one with most cards first, of equally large ones the newest torch."""
    groups = [_group(machine, found.cards(mask), request, rulebook) for mask in found.largest]
    return tuple(sorted(groups, key=lambda g: (len(g.gpus), g.row.rank), reverse=True))


def separate(machine: Machine, groups: Sequence[Group], request: Request, rulebook: Rulebook) -> tuple[Group, ...]:
    """The least number of groups that together hold every card, each once; empty where some card is in none."""
    every = frozenset(range(len(machine.gpus)))
    for size in range(1, len(groups) + 1):
        for chosen in itertools.combinations(groups, size):
            if every == frozenset(itertools.chain.from_iterable(g.gpus for g in chosen)):
                return tuple(_each_once(machine, chosen, request, rulebook))
    return ()


def _each_once(machine: Machine, chosen: Iterable[Group], request: Request, rulebook: Rulebook) -> list[Group]:
    """A card that several groups could hold stays in the first; the others may then get a newer torch."""
    taken: set[int] = set()
    found = []
    for group in chosen:
        left = tuple(i for i in group.gpus if i not in taken)
        taken.update(left)
        found.append(_group(machine, left, request, rulebook))
    return found


def _group(machine: Machine, indexes: tuple[int, ...], request: Request, rulebook: Rulebook) -> Group:
    part = replace(machine, gpus=tuple(machine.gpus[i] for i in indexes))
    return Group(gpus=indexes, row=survey(part, request, rulebook).running[0])


def _kinds(machine: Machine) -> dict[Kind, tuple[int, ...]]:
    kinds: dict[Kind, list[int]] = {}
    for index, gpu in enumerate(machine.gpus):
        kinds.setdefault(_kind(gpu), []).append(index)
    return {kind: tuple(indexes) for kind, indexes in kinds.items()}


def _kind(gpu: Gpu) -> Kind:
    known = gpu.compute_capability or gpu.gfx
    return (known,) if known is not None else (gpu.name,)
