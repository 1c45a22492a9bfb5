"""`envsolve plan`: choose the build that runs, and say why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from envsolve.cli import asked, options
from envsolve.cli.command_app import command_app
from envsolve.errors import EnvsolveError

app = command_app()

_EXAMPLE = 'Example: envsolve plan torch torchvision --target "GTX 1080 Ti,driver=580.65.06,python=3.11"'


@app.command(epilog=_EXAMPLE)
def plan(
    requirements: asked.Requirements = None,
    files: asked.Files = None,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    source: options.Source = None,
    mirror: options.Mirror = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every refusal with its reason.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    output: Annotated[list[Path] | None, typer.Option("-o", "--output", help="Also write a lock to this file.")] = None,
) -> int:
    """Choose the torch build that runs here, and say why. Needs no network."""
    try:
        answer = asked.answer(
            requirements or [], files or [], target=target, python=python, gpus=gpus, variant=variant,
            source=source, mirror=mirror,
        )  # fmt: skip
    except EnvsolveError as error:
        if as_json:
            from envsolve.resolve.answer_json import error_json

            print(json.dumps(error_json(error.message, error.hint)))
        raise
    if as_json:
        from envsolve.resolve.answer_json import as_json as to_json

        print(json.dumps(to_json(answer), ensure_ascii=False))
    else:
        from envsolve.resolve.answer_text import as_text

        print(as_text(answer, explain=explain))
    from envsolve.resolve.plan import Plan

    if not isinstance(answer, Plan):
        return 1
    if output:
        from envsolve.cli.lock import write_locks

        write_locks(answer, output)
    return 0
