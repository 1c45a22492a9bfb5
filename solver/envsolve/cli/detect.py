"""`envsolve detect`: show the GPUs, the driver and the host, and where each fact came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None)

Target = Annotated[str, typer.Option("--target", metavar="T", help="Not this machine but a profile, a file, a spec.")]


@app.command(epilog="Example: envsolve detect --json -o machine.json")
def detect(
    target: Target = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the profile as JSON.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the profile to this file.")] = None,
) -> None:
    """Show the GPUs, the driver and the host, and where each fact came from."""
    from envsolve.machine import profile
    from envsolve.machine.detect import detect as look
    from envsolve.machine.target import read_target

    machine = read_target(target) if target else look()
    if as_json:
        typer.echo(profile.dumps(machine), nl=False)
