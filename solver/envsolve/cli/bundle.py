"""`envsolve bundle`: a lock and all of its files in one folder, for a machine without a network."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked, options, talk
from envsolve.cli.busy import Busy
from envsolve.cli.chosen import Chosen, plan_json, planned, read_lock, show_no
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.planned import Asked

if TYPE_CHECKING:
    from envsolve.settings import Settings

app = command_app()

_Output = Annotated[Path, option("-o", "--output", metavar="DIR", help="The new folder.")]
_LockFile = Annotated[Path | None, option("--lock", help="Bundle this lock, without planning.")]
_Json = Annotated[bool, option("--json", help="Print what was written as JSON.")]


@app.command(epilog='Example: envsolve bundle -o torch-bundle --target "RTX 4090,driver=550.54.14,python=3.12"')
def bundle(
    output: _Output,
    wanted: asked.Wanted = asked.NOTHING,
    lock_file: _LockFile = None,
    machine: asked.ForMachine = asked.HERE,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Write a lock, its wheels, checksums and an install script into a folder: install it with --bundle DIR."""
    from envsolve.environment.pack import check_new

    check_new(output)
    settings = sources.settings()
    asking = Asked.said(wanted, machine)
    if lock_file is not None:
        found = read_lock(lock_file, asking, for_here=False)
    else:
        answer = planned(asking, settings, for_here=False)
        if not isinstance(answer, Chosen):
            show_no(answer, as_json=as_json)
            return 1
        found = answer
    _show(output, found, _pack(output, found, settings), as_json=as_json)
    return 0


def _pack(output: Path, found: Chosen, settings: Settings) -> int:
    from envsolve.environment.interrupts import kill_is_interrupt
    from envsolve.environment.pack import pack
    from envsolve.index.package_index import open_index

    lock = found.lock
    plan = json.dumps(plan_json(found.plan), ensure_ascii=False, indent=2) + "\n" if found.plan else ""
    with (
        kill_is_interrupt(),
        Busy() as busy,
        open_index(settings, python=lock.python, platform=lock.platform) as index,
    ):
        busy.say(f"fetching {len(lock.packages)} packages for {lock.header.target}")
        return pack(output, lock, found.text, index, settings, plan=plan, progress=busy.progress)


def _show(output: Path, found: Chosen, size: int, *, as_json: bool) -> None:
    packages = len(found.lock.packages)
    if as_json:
        print(json.dumps({"schema": 1, "path": str(output), "packages": packages, "size_bytes": size}))
        return
    talk.say(f"{packages} packages, {size / 1e6:,.1f} MB, for {found.lock.header.target}")
    talk.say("on the other machine, with the folder copied there:")
    print(shlex.join(["envsolve", "install", "--bundle", output.name, "--name", "NAME"]))
