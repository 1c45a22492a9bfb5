"""`envsolve plan`: choose the build that runs, and say why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked, options
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.planned import Asked
from envsolve.cli.told_as_json import told_as_json

if TYPE_CHECKING:
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import Answer
    from envsolve.resolve.request import Request
    from envsolve.settings import Settings

app = command_app()

_EXAMPLE = 'Example: envsolve plan torch torchvision --target "GTX 1080 Ti,driver=580.65.06,python=3.11"'


@app.command(epilog=_EXAMPLE)
def plan(
    wanted: asked.Wanted = asked.NOTHING,
    machine: asked.ForMachine = asked.HERE,
    sources: options.Sources = options.UNSAID,
    from_file: Annotated[
        Path | None,
        option(
            "--from",
            metavar="FILE",
            help="Judge another tool's pins: uv.lock, poetry.lock, pylock.toml, environment.yml, requirements.txt.",
        ),
    ] = None,
    explain: Annotated[bool, option("--explain", help="Show every refusal with its reason.")] = False,
    as_json: Annotated[bool, option("--json", help="Print the answer as JSON.")] = False,
    output: Annotated[list[str] | None, option("-o", "--output", help="Also write a lock to this file.")] = None,
) -> int:
    """Choose the torch build that runs here, and say why. The torch family needs no network."""
    asking = Asked.said(wanted, machine)
    source, mirror = sources.source, sources.mirror
    if from_file is not None:
        from envsolve.cli.planning_from import plan_from

        with told_as_json(as_json):
            return plan_from(from_file, asking, source=source, mirror=mirror, explain=explain, as_json=as_json)
    with told_as_json(as_json):
        host, request = asking.settled(source=source, mirror=mirror)
        answer = _answer(host, request, sources.settings)
    _show(answer, explain=explain, as_json=as_json)
    from envsolve.resolve.plan import Plan

    if not isinstance(answer, Plan):
        return 1
    if output:
        from envsolve.cli.lock import write_locks
        from envsolve.cli.lock_order import Job

        return write_locks(asking, Job(asked=asking, machine=host, request=request), output, sources.settings())
    return 0


def _answer(machine: Machine, request: Request, settings: Callable[[], Settings]) -> Answer:
    """The plan by the rules; only where something else is asked for are the settings read and the indexes asked."""
    from envsolve.resolve.plan import Plan
    from envsolve.resolve.planner import plan as plan_for
    from envsolve.rulebook.load import load

    answer = plan_for(machine, request, load())
    if not isinstance(answer, Plan) or not answer.unresolved:
        return answer
    from envsolve.cli.looking_up import looked_up

    return looked_up(answer, settings())


def _show(answer: Answer, *, explain: bool, as_json: bool) -> None:
    if as_json:
        from envsolve.resolve.answer_json import as_json as to_json

        print(json.dumps(to_json(answer), ensure_ascii=False))
    else:
        from envsolve.resolve.answer_text import as_text

        print(as_text(answer, explain=explain))
