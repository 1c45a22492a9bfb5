"""Declared: how a parameter of a command is said on the command line; once, for whoever reads the line.

The library that reads command lines takes 15 ms to load, as long as uv needs to make an environment: a plain line is
read without it (quick.py), every other one by it (typed.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from envsolve.record import record

# The terms of a command whose last argument is another program's command line.
PASSES_ON: Mapping[str, object] = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@record
class Declared:
    """`flags` are empty for what is said by its place; `words` are the library's own names for the rest."""

    flags: tuple[str, ...]
    words: Mapping[str, object]


def option(*flags: str, **words: object) -> Declared:
    """A parameter that is said by a flag; `words` as for typer.Option."""
    return Declared(flags=flags, words=words)


def argument(**words: object) -> Declared:
    """A parameter that is said by its place; `words` as for typer.Argument."""
    return Declared(flags=(), words=words)
