"""GPU groups: which cards of a mixed box one build can serve together, and how few environments serve them all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from envsolve.machine.machine import Gpu, Machine
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.survey import survey
from envsolve.rulebook.rulebook import Rulebook

Kind = tuple[object, ...]  # cards of one kind are judged alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cards that one build serves together: their indexes, and the best row for them."""

    gpus: tuple[int, ...]
    row: Row


def best_groups(machine: Machine, request: Request, rulebook: Rulebook) -> tuple[Group, ...]:
    """The groups that can't be enlarged, the one with most cards first, of equally large ones the newest torch."""
    kinds = _kinds(machine)
    found = [_group(machine, _cards(kinds, mask), request, rulebook) for mask in _largest(machine, request, rulebook)]
    return tuple(sorted(found, key=lambda g: (len(g.gpus), g.row.rank), reverse=True))


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


def _kinds(machine: Machine) -> dict[Kind, list[int]]:
    kinds: dict[Kind, list[int]] = {}
    for index, gpu in enumerate(machine.gpus):
        kinds.setdefault(_kind(gpu), []).append(index)
    return kinds


def _kind(gpu: Gpu) -> Kind:
    known = gpu.compute_capability or gpu.gfx
    return (known,) if known is not None else (gpu.name,)


def _cards(kinds: dict[Kind, list[int]], mask: frozenset[Kind]) -> tuple[int, ...]:
    return tuple(sorted(i for kind in mask for i in kinds[kind]))


def _largest(machine: Machine, request: Request, rulebook: Rulebook) -> list[frozenset[Kind]]:
    """The sets of kinds that some build serves and that no other such set holds. A build serves a set if it serves
    each kind alone, so that one survey a kind is enough."""
    served: dict[tuple[Version, str], set[Kind]] = {}
    for kind, indexes in _kinds(machine).items():
        alone = replace(machine, gpus=(machine.gpus[indexes[0]],))
        for row in survey(alone, request, rulebook).running:
            served.setdefault((row.build.torch, row.build.variant), set()).add(kind)
    masks = {frozenset(kinds) for kinds in served.values()}
    return [mask for mask in masks if not any(mask < other for other in masks)]
