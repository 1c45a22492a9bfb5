"""The entry point: finds the command, runs it, and turns every error into a message and an exit code."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from envsolve import __version__
from envsolve.cli import talk
from envsolve.cli.commands import COMMANDS
from envsolve.errors import EnvsolveError, InputError

INTERRUPTED = 130
# A disk that is full, broken or read-only is no bug of envsolve's, wherever it shows.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


class LazyGroup(TyperGroup):
    """A group that imports a command's module only when that command runs: keeps --help and plan quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command = typer.main.get_command(importlib.import_module(module).app)
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


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 bad input, 3 outside failure, 130 interrupted."""
    # Imports make many objects and no garbage: looking for it costs a twentieth of a short command.
    gc.set_threshold(50_000, 20, 20)
    _leave(run(sys.argv[1:] if argv is None else argv))


def _leave(code: int) -> NoReturn:
    """End the process without taking it apart object by object, which costs a short command a tenth of its time.

    Nothing here waits for the end of the process: files, threads and locks are all closed where they were opened.
    """
    os._exit(_all_out(code))


def _all_out(code: int) -> int:
    """The exit code, once all that was printed is out: 3 where it can't be."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # closed by whoever started us
                stream.flush()
    except BrokenPipeError:  # nobody reads on
        return code
    except (OSError, ValueError) as error:
        return code or _cant_write(error)
    return code


def run(argv: list[str]) -> int:
    """The exit code of one command line; errors are printed, never raised."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=argv or ["--help"], prog_name="envsolve", standalone_mode=False)
        return _interrupted() if code == INTERRUPTED else code if isinstance(code, int) else 0
    except EnvsolveError as error:
        talk.error(error.message, error.hint)
        return error.exit_code
    except typer.Exit as stop:
        return stop.exit_code
    except TyperException as error:
        talk.error(_lower(error.format_message()), _usage_hint(error))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except (BrokenPipeError, SystemExit):  # nobody reads on; typer makes an exit with 1 of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in _DISK:
            return _bug(error)
        return _cant_write(error)
    except Exception as bug:
        return _bug(bug)


def _cant_write(error: OSError | ValueError) -> int:
    where = getattr(error, "filename", None) or "what was to be printed"
    talk.error(f"can't write {where}: {getattr(error, 'strerror', None) or error}", "")
    return 3


def _bug(bug: Exception) -> int:
    if talk.level() > 1:
        raise bug
    talk.error(
        f"this is a bug in envsolve: {type(bug).__name__}: {bug}",
        "run it again as `envsolve -v COMMAND …` and report what it says",
    )
    return 3


def _interrupted() -> int:
    """Say so once: typer makes an exit code of Ctrl-C, and a command may have told more already."""
    if not talk.told_error():
        talk.error("interrupted", "")
    return INTERRUPTED


def _lower(message: str) -> str:
    return (message[:1].lower() + message[1:]).rstrip(".")


def _usage_hint(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "envsolve"
    option = getattr(error, "option_name", None)
    if option in ("-v", "-q", "--verbose", "--quiet"):  # envsolve's own, which stand before the command
        return f"{path.replace('envsolve', f'envsolve {option}', 1)} …"
    return f"{path} --help"
