"""`envsolve install`: create an isolated environment, fill it from a lock, prove it."""

from __future__ import annotations

import dataclasses
import json
import shlex
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envsolve.cli import asked, options, talk
from envsolve.cli.busy import Busy
from envsolve.cli.command_app import command_app
from envsolve.cli.planned import Asked
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.environment.environment import Environment
    from envsolve.environment.order import Order
    from envsolve.environment.proof import Proof
    from envsolve.environment.store import Slot
    from envsolve.lock.lock import Lock
    from envsolve.resolve.plan import NeedsInput, NoPlan, Plan
    from envsolve.settings import Settings

app = command_app()


class Tool(StrEnum):
    """The values of --installer."""

    AUTO = "auto"
    UV = "uv"
    PIP = "pip"
    PIP_SYNC = "pip-sync"


class When(StrEnum):
    """The values of --verify."""

    NOW = "now"
    LATER = "later"


_Name = Annotated[str | None, typer.Option("--name", help="The name of the environment.")]
_Path = Annotated[Path | None, typer.Option("--path", help="A project's own environment, at this folder.")]
_LockFile = Annotated[Path | None, typer.Option("--lock", help="Install from this lock, without planning.")]
_Installer = Annotated[Tool, typer.Option("--installer", help="What fills it; auto: uv where there is one, else pip.")]
_Replace = Annotated[bool, typer.Option("--replace", help="Replace an environment, once the new one is verified.")]
_Verify = Annotated[When | None, typer.Option("--verify", help="now, or later (default with --target).")]
_Json = Annotated[bool, typer.Option("--json", help="Print the environment as JSON.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What will be installed: the lock, its text as a requirements file, and the plan behind it where there is one."""

    lock: Lock
    text: str
    plan: Plan | None = None


@app.command(epilog="Example: envsolve install torch torchvision --name pytorch_new")
def install(
    requirements: asked.Requirements = None,
    files: asked.Files = None,
    constraints: asked.Constraints = None,
    extra: asked.Extras = None,
    group: asked.Groups = None,
    name: _Name = None,
    path: _Path = None,
    lock_file: _LockFile = None,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    sdists: asked.Sdists = False,
    installer: _Installer = Tool.AUTO,
    replace: _Replace = False,
    verify: _Verify = None,
    as_json: _Json = False,
    source: options.Source = None,
    mirror: options.Mirror = None,
    index: options.Index = None,
    extra_index: options.ExtraIndex = None,
    find_links: options.FindLinks = None,
    offline: options.Offline = False,
    refresh: options.Refresh = False,
    cache_dir: options.CacheDir = None,
) -> int:
    """Create an isolated environment, fill it from a lock, prove it; all of it or nothing."""
    from envsolve.environment.install import check_free

    slot = _slot(name, path)
    check_free(slot, replace=replace)
    settings = options.settings_from(
        source=source, mirror=mirror, index=index, extra_index=extra_index, find_links=find_links,
        offline=offline, refresh=refresh, cache_dir=cache_dir,
    )  # fmt: skip
    wanted = Asked(
        requirements=requirements or [], files=files or [], constraints=constraints or [], extras=extra or [],
        groups=group or [], target=target, python=python, gpus=gpus, variant=variant, sdists=sdists,
    )  # fmt: skip
    found = _read(lock_file, wanted) if lock_file is not None else _planned(wanted, settings)
    if isinstance(found, Chosen):
        order = _order(found, settings, slot, installer=installer, replace=replace)
        when = verify or (When.LATER if target else When.NOW)
        _show(_install(slot, dataclasses.replace(order, verify=when.value)), as_json=as_json)
        return 0
    _show_no(found, as_json=as_json)
    return 1


def _slot(name: str | None, path: Path | None) -> Slot:
    from envsolve.environment.home import data_home
    from envsolve.environment.store import Store, project_slot

    if (name is None) == (path is None):
        raise InputError("give either --name NAME or --path DIR", hint="envsolve install --name pytorch_new")
    return project_slot(path) if path is not None else Store(data_home()).slot(name or "")


def _read(file: Path, wanted: Asked) -> Chosen:
    """The lock in a file, which decides everything: nothing else may be asked for beside it."""
    from envsolve.environment.order import check_platform
    from envsolve.lock import requirements_txt
    from envsolve.lock.formats import read
    from envsolve.machine.host import this_host

    if wanted.anything:
        raise InputError(
            "--lock says what to install: give no requirements, files, --target, --gpus, --variant beside it"
        )
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the lock {file}: {error}", hint="envsolve lock writes one") from error
    minor = ".".join((wanted.python or "").split(".")[:2])
    lock = read(text, file.name, platform=this_host().platform, python=minor)
    check_platform(lock.platform, this_host().platform)
    if wanted.python and wanted.python.split(".")[:2] != lock.python.split("."):
        raise InputError(f"the lock {file} is for Python {lock.python}, not {wanted.python}", hint="leave --python out")
    # A text of several targets, or in another format, is written anew with the packages of this one only.
    alone = file.suffix == ".txt" and len(requirements_txt.read_all(text, what=file.name)) == 1
    return Chosen(lock=lock, text=text if alone else requirements_txt.write(lock))


def _planned(wanted: Asked, settings: Settings) -> Chosen | NoPlan | NeedsInput:
    from envsolve.environment.order import check_platform
    from envsolve.environment.pythons import find_python
    from envsolve.lock import requirements_txt
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.host import this_host

    with Busy() as busy:
        busy.say("planning")
        machine, request = wanted.settled(source=settings.source, mirror=settings.mirror)
        check_platform(machine.platform, this_host().platform)
        if machine.python:
            find_python(machine.python)  # before anything is asked of an index
        locked = wanted.locked(machine, request, settings)
    if not isinstance(locked, Locked):
        return locked
    for line in (*locked.differences, *(note.text for note in locked.plan.notes)):
        talk.say(f"note: {line}")
    return Chosen(lock=locked.lock, text=requirements_txt.write(locked.lock), plan=locked.plan)


def _order(chosen: Chosen, settings: Settings, slot: Slot, *, installer: Tool, replace: bool) -> Order:
    from envsolve.environment.fill import choose_installer
    from envsolve.environment.order import Order, next_best

    plan = chosen.plan
    place = ["--name", slot.name] if slot.named else ["--path", slot.shown_name]
    return Order(
        lock=chosen.lock,
        lock_text=chosen.text,
        installer=choose_installer(installer.value),
        settings=settings,
        replace=replace,
        plan=_plan_json(plan) if plan else None,
        next_best=next_best(plan, [*place, *(["--replace"] if replace else [])]) if plan else "",
    )


def _plan_json(plan: Plan) -> dict[str, Any]:
    from envsolve.resolve.answer_json import as_json

    return as_json(plan)


def _install(slot: Slot, order: Order) -> Environment:
    from envsolve.environment.install import install
    from envsolve.environment.interrupts import kill_is_interrupt
    from envsolve.environment.pythons import find_python

    python = find_python(order.lock.python)
    try:
        with kill_is_interrupt(), Busy() as busy:
            prove = partial(_prove, lock=order.lock, environment=slot.shown_name, busy=busy)
            return install(slot, python, order, prove=prove, say=busy.say, detail=busy.line, progress=busy.progress)
    except KeyboardInterrupt:
        talk.error("interrupted; nothing half-made is left, and what was there before is unchanged", "")
        raise


def _prove(interpreter: Path, *, lock: Lock, environment: str, busy: Busy) -> Proof:
    from envsolve.rulebook.load import load
    from envsolve.verify.as_proof import as_proof
    from envsolve.verify.promise import promise
    from envsolve.verify.run import verify
    from envsolve.verify.text import report_lines

    report = verify(interpreter, promise(lock, load()), progress=busy.line, environment=environment)
    for line in report_lines(report):
        (talk.detail if report.verified else talk.say)(line)
    return as_proof(report)


def _show(environment: Environment, *, as_json: bool) -> None:
    from envsolve.environment.activate import activation_lines
    from envsolve.environment.listing import SCHEMA, environment_json

    if as_json:
        print(json.dumps({"schema": SCHEMA, **environment_json(environment)}))
        return
    talk.say(f"{environment.state}: {environment.path} (Python {environment.python}, torch {environment.torch})")
    if environment.state == "unverified":
        which = ["--name", environment.name] if environment.name else ["--path", str(environment.path)]
        talk.say(f"not proven yet: {shlex.join(['envsolve', 'verify', *which])}")
    talk.say("to switch it on:")
    for shell, line in activation_lines(environment.path).items():
        print(f"{shell + ':':<12}{line}")


def _show_no(answer: NoPlan | NeedsInput, *, as_json: bool) -> None:
    from envsolve.resolve.answer_json import as_json as to_json
    from envsolve.resolve.answer_text import as_text

    print(json.dumps(to_json(answer), ensure_ascii=False) if as_json else as_text(answer))
