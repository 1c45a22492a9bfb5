"""`envsolve envs`: list, find, run in and remove named environments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import PASSES_ON, argument, option

if TYPE_CHECKING:
    from envsolve.environment.environment import Environment
    from envsolve.environment.store import Slot

app = command_app(
    "List, find, run in and remove named environments.",
    epilog="Example: envsolve envs run pytorch_new -- python train.py",
)
_Name = Annotated[str, argument(metavar="NAME", help="The environment's name.")]
_Json = Annotated[bool, option("--json", help="Print JSON.")]


@app.command("list", epilog="Example: envsolve envs list --json")
def list_(as_json: _Json = False) -> None:
    """Show every named environment: its state, what is in it, its size and its path."""
    from envsolve.environment.home import data_home
    from envsolve.environment.listing import SCHEMA, damaged, environment_json, environments
    from envsolve.environment.store import Store

    found = environments(Store(data_home()))
    for name in damaged(Store(data_home())):
        talk.say(f"{name} can't be read; to be rid of it: envsolve envs remove {name}")
    if as_json:
        print(json.dumps({"schema": SCHEMA, "environments": [environment_json(one) for one in found]}))
        return
    if not found:
        talk.say("no environments yet: envsolve install --name NAME makes one")
    for line in _table([("NAME", "STATE", "PYTHON", "TORCH", "SIZE", "PATH"), *map(_row, found)] if found else []):
        print(line)


@app.command(epilog="Example: source $(envsolve envs path pytorch_new)/bin/activate")
def path(name: _Name, as_json: _Json = False) -> None:
    """Print the folder of an environment."""
    from envsolve.environment.listing import SCHEMA, environment_json, find

    environment = find(_slot(name))
    if as_json:
        print(json.dumps({"schema": SCHEMA, **environment_json(environment)}))
    else:
        print(environment.path)


@app.command(
    epilog="Example: envsolve envs run pytorch_new -- python -c 'import torch; print(torch.__version__)'",
    context_settings=PASSES_ON,
)
def run(
    name: _Name,
    command: Annotated[list[str], argument(metavar="-- CMD...", help="The program and its arguments.")],
) -> int:
    """Run a program in an environment; exit code and signals are the program's own.

    In one that conda made, its packages' activation scripts run first, as with `conda run` (not on Windows).
    """
    from envsolve.environment.start import start

    return start(_slot(name), command[1:] if command[0] == "--" and len(command) > 1 else command)


@app.command(epilog="Example: envsolve envs remove pytorch_old")
def remove(name: _Name) -> None:
    """Remove an environment, with the builds under its name that failed verification."""
    slot = _slot(name)
    with slot.alone(talk.say):
        removed = slot.remove()
    talk.say(f"removed {name} ({len(removed)} build{'s' if len(removed) > 1 else ''})")


def _slot(name: str) -> Slot:
    from envsolve.environment.home import data_home
    from envsolve.environment.store import Store

    return Store(data_home()).slot(name)


def _row(environment: Environment) -> tuple[str, ...]:
    size = f"{environment.size_bytes / 1e6:,.0f} MB" if environment.size_bytes is not None else "?"
    torch = environment.torch or "-"
    return (environment.name, environment.state, environment.python, torch, size, str(environment.path))


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
