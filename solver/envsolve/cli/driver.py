"""`envsolve driver`: which driver these cards need, and the commands that get it. Runs none of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.planned import Asked
from envsolve.errors import RefusedError
from envsolve.record import replace

if TYPE_CHECKING:
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import Answer
    from envsolve.resolve.request import Request
    from envsolve.rulebook.rulebook import Rulebook
    from envsolve.rulebook.tables import Build

app = command_app()

_EXAMPLE = 'Example: envsolve driver --target "RTX 5090,driver=550.54.14,python=3.12"'


@app.command(epilog=_EXAMPLE)
def driver(
    requirements: asked.Requirements = None,
    files: asked.Files = None,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    as_json: Annotated[bool, option("--json", help="Print the advice as JSON.")] = False,
) -> int:
    """Say which driver branch is enough for what is asked, which is the last for these cards, and how to change it."""
    from envsolve.resolve.plan import Plan
    from envsolve.rulebook.load import load
    from envsolve.ways.driver import advice
    from envsolve.ways.driver_text import as_text

    rulebook = load()
    asking = Asked(
        requirements=requirements or [], files=files or [], target=target, python=python, gpus=gpus, variant=variant
    )
    machine, request = _chosen(*asking.settled(source=None, mirror=None))
    now = _plan(machine, request, rulebook)
    found = advice(machine, rulebook, build=_goal(machine, request, rulebook, now))
    if found is None:
        raise RefusedError("no NVIDIA GPU is to be used here: there is no driver to judge", hint="envsolve plan")
    if as_json:
        from envsolve.ways.driver_json import as_json as to_json

        print(json.dumps(to_json(found), ensure_ascii=False))
    else:
        print(as_text(found))
        print(_told(now))
    return 0 if isinstance(now, Plan) else 1


def _chosen(machine: Machine, request: Request) -> tuple[Machine, Request]:
    """The machine with the chosen GPUs alone, and a request for all of those."""
    from envsolve.resolve.gpu_choice import chosen

    return chosen(machine, request), replace(request, gpus="all")


def _goal(machine: Machine, request: Request, rulebook: Rulebook, now: Answer) -> Build | None:
    """The build that the request gets under the newest driver that drives the cards, unless the one that it gets now
    is of the same torch; None = let the advice choose."""
    from envsolve.resolve.plan import Plan
    from envsolve.ways import cards
    from envsolve.ways.driver_goal import with_branch

    machine = cards.identified(machine, rulebook)
    found = cards.capabilities(machine)
    if found is None:
        return None
    _, last = cards.drivable(found, rulebook)
    answer = _plan(with_branch(machine, last or max(rulebook.branches), rulebook), request, rulebook)
    if isinstance(now, Plan) and (not isinstance(answer, Plan) or answer.build.torch == now.build.torch):
        return now.build
    return answer.build if isinstance(answer, Plan) else None


def _plan(machine: Machine, request: Request, rulebook: Rulebook) -> Answer:
    from envsolve.resolve.planner import plan

    return plan(machine, request, rulebook)


def _told(answer: Answer) -> str:
    """What the driver that is there runs."""
    from envsolve.resolve.plan import NoPlan, Plan

    if isinstance(answer, Plan):
        return f"with the driver as it is: torch {answer.build.torch} ({answer.variant})"
    if isinstance(answer, NoPlan):
        return f"with the driver as it is: no build ({answer.guilty})"
    return "with the driver as it is: more must be known; envsolve plan says what"
