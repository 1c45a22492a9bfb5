"""The Typer app of one command: plain help, -h, and no completion options (those belong to envsolve itself)."""

from __future__ import annotations

import typer


def command_app(text: str | None = None, *, epilog: str | None = None) -> typer.Typer:
    """An app for a command's module; `text` and `epilog` are for commands that have commands of their own."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=text is not None,
        help=text,
        epilog=epilog,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
