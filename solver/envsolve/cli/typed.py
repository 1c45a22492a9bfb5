"""Typed: a module's commands for typer: plain help, -h, no completion options (those belong to envsolve itself)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_args

import typer

from envsolve.cli.command_app import Command, CommandApp
from envsolve.cli.declared import Declared


def typed(app: CommandApp) -> typer.Typer:
    """The app that reads the command lines of these commands."""
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=app.several,
        help=app.text,
        epilog=app.epilog,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in app.commands:
        context = dict(command.context)
        made.command(command.name, epilog=command.epilog, context_settings=context)(_function(command))
    return made


def _function(command: Command) -> Callable[..., Any]:
    """The command's function with typer's own words for its parameters."""

    @wraps(command.function)
    def call(**values: Any) -> Any:
        return command.function(**values)

    hints = {name: _annotation(hint) for name, hint in command.hints().items()}
    signature = inspect.signature(command.function)
    parameters = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items()]
    call.__annotations__ = hints
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


def _annotation(hint: Any) -> Any:
    kind, said = get_args(hint)
    return Annotated[kind, _parameter(said)]


def _parameter(said: Declared) -> Any:
    words: dict[str, Any] = dict(said.words)
    return typer.Option(*said.flags, **words) if said.flags else typer.Argument(**words)
