"""Merge the GPU lists of several readings: full names replace cut ones, capabilities fill in, differences are told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.reading import Reading
from envsolve.record import replace
from envsolve.regex import regex

_PREFIX = regex(r"^(nvidia|amd|intel)\b\s*", re.IGNORECASE)
_MIG = regex(r"\s+mig \d+c?\.?\d*g\.\S+$", re.IGNORECASE)


def merge_gpus(readings: Sequence[Reading], *, stated: Sequence[str]) -> tuple[tuple[Gpu, ...], tuple[Problem, ...]]:
    """The GPUs that all readings together describe, in the order of the best one, and where they contradict.

    A reading whose source is in `stated` settles the list.
    """
    lists = [r for r in readings if r.gpus is not None]
    for reading in lists:
        if reading.source in stated:
            return reading.gpus or (), ()
    full = [r for r in lists if not r.partial and r.gpus]
    if not full:
        return _union(lists), ()
    base = max(full, key=_known)  # the first of those that know most
    gpus = list(base.gpus or ())
    problems: list[Problem] = []
    for other in (r for r in full if r is not base):
        problems += _blend(gpus, base, other)
    return (*gpus, *_extra(gpus, lists)), tuple(problems)


def same_name(one: str | None, other: str | None) -> bool:
    """Whether two printed names can be the same card: prefix, case and MIG suffix ignored, cut names by their start."""
    if one is None or other is None:
        return True
    first, second = _plain(one), _plain(other)
    for cut, whole in ((first, second), (second, first)):
        if cut.endswith(("...", "…")) and whole.startswith(cut.rstrip(".… ")):
            return True
    return first == second


def _plain(name: str) -> str:
    return _MIG.sub("", _PREFIX.sub("", name.lower())).strip()


def _known(reading: Reading) -> tuple[int, int]:
    gpus = reading.gpus or ()
    return sum(g.name is not None for g in gpus), len(gpus)


def _blend(gpus: list[Gpu], base: Reading, other: Reading) -> list[Problem]:
    """Fill the gaps of `gpus` in place from another source; its contradictions come back."""
    theirs = other.gpus or ()
    if len(theirs) != len(gpus):
        text = f"{base.source} lists {len(gpus)} GPUs, {other.source} {len(theirs)}"
        return [Problem(code="sources-disagree", text=text)]
    problems = []
    for position, gpu in enumerate(gpus):
        twin = _twin(position, gpu, theirs)
        told = _contradiction(position, gpu, twin, base.source, other.source)
        if told:
            problems.append(told)
        else:
            gpus[position] = _filled(gpu, twin)
    return problems


def _twin(position: int, gpu: Gpu, theirs: Sequence[Gpu]) -> Gpu:
    """The same card in the other list: by UUID, else by place."""
    by_uuid = (g for g in theirs if g.uuid and g.uuid == gpu.uuid)
    return next(by_uuid, theirs[position])


def _contradiction(position: int, gpu: Gpu, twin: Gpu, one: str, other: str) -> Problem | None:
    text = ""
    if not same_name(gpu.name, twin.name):
        text = f"GPU {position} is {gpu.name} ({one}) or {twin.name} ({other})"
    elif None not in (mine := gpu.compute_capability, its := twin.compute_capability) and mine != its:
        text = f"GPU {position} has compute capability {mine} ({one}) or {its} ({other})"
    return Problem(code="sources-disagree", text=f"the sources disagree: {text}") if text else None


def _filled(gpu: Gpu, twin: Gpu) -> Gpu:
    """The card with what the other source knows more of it."""
    take_name = twin.name is not None and (gpu.name is None or (gpu.truncated and not twin.truncated))
    return replace(
        gpu,
        name=twin.name if take_name else gpu.name,
        truncated=twin.truncated if take_name else gpu.truncated,
        compute_capability=gpu.compute_capability or twin.compute_capability,
        index=twin.index if gpu.index is None else gpu.index,
        uuid=gpu.uuid or twin.uuid,
        memory_bytes=twin.memory_bytes if gpu.memory_bytes is None else gpu.memory_bytes,
        mig=gpu.mig or twin.mig,
        gfx=gpu.gfx or twin.gfx,
    )


def _extra(gpus: Sequence[Gpu], lists: Sequence[Reading]) -> tuple[Gpu, ...]:
    """Cards that a partial source names and no full one lists."""
    partial = [g for r in lists if r.partial for g in r.gpus or () if g.name]
    return tuple(dict.fromkeys(g for g in partial if not any(h.name and same_name(g.name, h.name) for h in gpus)))


def _union(lists: Sequence[Reading]) -> tuple[Gpu, ...]:
    """The longest of the partial lists, with what only the others name."""
    longest = max((r.gpus or () for r in lists), key=len, default=())
    return (*longest, *_extra(longest, lists)) if longest else ()
