"""Keepable: the pins that can stay, found by asking for as few answers as it takes. Pure but for the question."""

from __future__ import annotations

from collections.abc import Callable

Solves = Callable[[tuple[str, ...]], bool]


def keepable(pins: tuple[str, ...], solves: Solves, kept: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The pins that hold together, earlier ones first; `solves` says whether there is an answer under some of them.

    Halves are tried before single ones: a few guilty pins among many cost a few questions.
    """
    if not pins or solves((*kept, *pins)):
        return pins
    if len(pins) == 1:
        return ()
    middle = len(pins) // 2
    first = keepable(pins[:middle], solves, kept)
    return (*first, *keepable(pins[middle:], solves, (*kept, *first)))
