"""Typed: a module's commands for typer: plain help, -h, no completion options (those belong to envsolve itself)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from envsolve.cli.command_app import Command, CommandApp, Parameter
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
        return command.call(values)

    parameters = [_in_signature(one) for one in command.parameters()]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _in_signature(one: Parameter) -> inspect.Parameter:
    default = inspect.Parameter.empty if one.default is ... else one.default
    annotation: Any = Annotated[one.kind, _parameter(one.said)]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameter(said: Declared) -> Any:
    words: dict[str, Any] = dict(said.words)
    return typer.Option(*said.flags, **words) if said.flags else typer.Argument(**words)
