"""The command line as typer reads it: finds the command, runs it, and words what is wrong with the line itself."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from envsolve import __version__
from envsolve.cli import talk
from envsolve.cli.commands import COMMANDS
from envsolve.cli.typed import typed
from envsolve.errors import InputError


class LazyGroup(TyperGroup):
    """A group that imports a command's module only when that command runs: keeps --help and plan quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command = typer.main.get_command(typed(importlib.import_module(module).app))
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            raise InputError(
                f"there is no command {name!r}", hint=f"envsolve {near[0]}" if near else "envsolve --help lists them"
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=LazyGroup,
    name="envsolve",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    epilog='Example: envsolve plan --target "RTX 4090,driver=550.54.14"',
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"envsolve {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Say only what was asked for, and errors."),
    verbose: bool = typer.Option(False, "-v", "--verbose", help="Say more about what is done."),
) -> None:
    """Picks the PyTorch build that really runs on your GPU and driver, locks it, installs it, and proves it."""
    talk.set_level(quiet=quiet, verbose=verbose)


def invoke(argv: list[str]) -> int:
    """The exit code of one command line. Raises what its command does, KeyboardInterrupt for typer's own Abort."""
    try:
        code = typer.main.get_command(app).main(args=argv, prog_name="envsolve", standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except TyperException as error:
        talk.error(_lower(error.format_message()), _usage_hint(error))
        return 2
    except typer.Abort as stop:
        raise KeyboardInterrupt from stop
    return code if isinstance(code, int) else 0


def _lower(message: str) -> str:
    return (message[:1].lower() + message[1:]).rstrip(".")


def _usage_hint(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "envsolve"
    option = getattr(error, "option_name", None)
    if option in ("-v", "-q", "--verbose", "--quiet"):  # envsolve's own, which stand before the command
        return f"{path.replace('envsolve', f'envsolve {option}', 1)} …"
    return f"{path} --help"
