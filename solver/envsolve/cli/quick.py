"""Quick: a plain command line, read without the library that reads every other one.

That library takes as long to load as uv to make an environment. Whatever isn't exactly of this form is left to it, and
so is all that is wrong: it alone words what to say about a command line. A test holds both to the same answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from envsolve.cli.commands import COMMANDS
from envsolve.cli.declared import PASSES_ON
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.cli.command_app import Command, CommandApp
    from envsolve.cli.declared import Declared

_QUIET = {"-q", "--quiet"}
_VERBOSE = {"-v", "--verbose"}
# What a parameter may say of itself: how it is shown, and what a number must keep to.
_SHOWN = {"help", "metavar", "show_default", "rich_help_panel", "hidden"}
_BOUNDS = {"min", "max"}


@record
class Plain:
    """What the line says: the command, with which arguments, and how much is told."""

    command: Command
    words: dict[str, Any]
    quiet: bool = False
    verbose: bool = False

    def run(self) -> int:
        """The exit code."""
        from envsolve.cli import talk

        talk.set_level(quiet=self.quiet, verbose=self.verbose)
        code = self.command.call(self.words)
        return code if isinstance(code, int) else 0


@record
class _Parameter:
    """A parameter: its type, None where only typer can read it, and whether it may be said more than once."""

    name: str
    kind: type | None
    many: bool
    flags: tuple[str, ...]


def read(argv: Sequence[str]) -> Plain | None:
    """The command that a line asks for, or None where it is for typer to read."""
    if "_ENVSOLVE_COMPLETE" in os.environ:
        return None
    rest = list(argv)
    before: set[str] = set()
    while rest and rest[0] in _QUIET | _VERBOSE:
        before.add(rest.pop(0))
    command = _command(rest)
    if command is None:
        return None
    words = _passed_on(command, rest) if command.context else _words(command, rest)
    if words is None:
        return None
    quiet, verbose = not before.isdisjoint(_QUIET), not before.isdisjoint(_VERBOSE)
    return Plain(command=command, words=words, quiet=quiet, verbose=verbose)


def _command(rest: list[str]) -> Command | None:
    """The command that the first words name; they are taken away."""
    if not rest or rest[0] not in COMMANDS:
        return None
    from importlib import import_module

    app: CommandApp = import_module(COMMANDS[rest.pop(0)][0]).app
    if not app.several:
        return app.commands[0]
    name = rest.pop(0) if rest else ""
    return next((command for command in app.commands if command.name == name), None)


def _passed_on(command: Command, rest: list[str]) -> dict[str, Any] | None:
    """Two arguments: one word, and all that follows, which is another program's."""
    assert command.context == PASSES_ON, "typer must look at it"
    first, program = command.parameters()
    if len(rest) < 2 or not rest[0] or rest[0].startswith("-"):
        return None
    return {first.name: rest[0], program.name: rest[1:]}


def _words(command: Command, rest: list[str]) -> dict[str, Any] | None:
    """The arguments for the function, by what the rest of the line says; None where any word is not plain."""
    parameters = command.parameters()
    known = [_parameter(one.name, one.kind, one.said) for one in parameters]
    flags = {flag: one for one in known for flag in one.flags if one.kind}
    places = [one for one in known if not one.flags]
    words: dict[str, Any] = {}
    while rest:
        one = _next(rest, flags, places)
        value = _value(one, rest.pop(0)) if one and rest else None
        if one is None or value is None:
            return None
        words[one.name] = [*words.get(one.name, ()), value] if one.many else value
    return words if all(one.name in words or one.default is not ... for one in parameters) else None


def _next(rest: list[str], flags: Mapping[str, _Parameter], places: list[_Parameter]) -> _Parameter | None:
    """The parameter that the next word is for; a flag that a value follows is taken away, and so is a place."""
    word = rest[0]
    if not word.startswith("-"):
        return (places[0] if places[0].many else places.pop(0)) if places else None
    one = flags.get(word)
    if one and one.kind is not bool:
        del rest[0]
    return one


def _value(one: _Parameter, word: str) -> Any:
    """What a word says of a parameter; None where typer must look at it."""
    if one.kind is bool:
        return True
    if one.kind is None or not word or word.startswith("-"):
        return None
    try:
        return one.kind(word)
    except ValueError:  # no such choice
        return None


def _parameter(name: str, kind: Any, said: Declared) -> _Parameter:
    assert said.words.keys() <= _SHOWN | _BOUNDS, f"typer must look at {name}, said or not"
    if isinstance(kind, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    many = get_origin(kind) is list
    kind = get_args(kind)[0] if many else kind
    plain = kind in (str, Path, bool) or issubclass(kind, StrEnum)
    pair = any("/" in flag for flag in said.flags)  # --this/--not-this
    return _Parameter(name=name, kind=kind if plain and not pair else None, many=many, flags=said.flags)
