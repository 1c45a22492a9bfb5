"""GPU remedies: fewer cards, or an environment for each group of cards."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.machine.machine import Machine
from envsolve.resolve.gpu_groups import Group, best_groups, cover, separate
from envsolve.resolve.loosen import command
from envsolve.resolve.plan import GpuChoice, Remedy
from envsolve.resolve.request import Request
from envsolve.rulebook.rulebook import Rulebook


def gpu_remedies(machine: Machine, request: Request, rulebook: Rulebook) -> Iterator[Remedy]:
    """Leave out the fewest cards; or as few environments as serve them all."""
    if len(machine.gpus) < 2:
        return
    groups = best_groups(machine, cover(machine, request, rulebook), request, rulebook)
    if groups:
        choice = gpu_choice(groups[0], machine, request)
        kept, lost = _listed(choice.gpus), ", ".join(choice.lost)
        text = f"GPU {kept} with torch {choice.torch} ({choice.variant}), without {lost}"
        yield Remedy(code="drop-gpu", text=text, command=choice.command)
    apart = separate(machine, groups, request, rulebook)
    if len(apart) > 1:
        choices = [gpu_choice(group, machine, request) for group in apart]
        parts = [f"GPU {_listed(c.gpus)}: torch {c.torch} ({c.variant})" for c in choices]
        text = f"{len(apart)} environments, one for each group of cards: {'; '.join(parts)}"
        yield Remedy(code="separate-environments", text=text, command="\n".join(c.command for c in choices))


def gpu_choice(group: Group, machine: Machine, request: Request) -> GpuChoice:
    """A group in the user's numbering: that of --gpus where a list was given."""
    numbers = request.gpus if isinstance(request.gpus, tuple) else tuple(range(len(machine.gpus)))
    kept = tuple(numbers[i] for i in group.gpus)
    names = [gpu.name or gpu.gfx or f"GPU {numbers[i]}" for i, gpu in enumerate(machine.gpus)]
    return GpuChoice(
        torch=group.row.build.torch,
        variant=group.row.build.variant,
        gpus=kept,
        covered=tuple(names[i] for i in group.gpus),
        lost=tuple(name for i, name in enumerate(names) if i not in group.gpus),
        command=command(request, "--gpus", _listed(kept)),
    )


def _listed(indexes: tuple[int, ...]) -> str:
    return ",".join(map(str, indexes))
