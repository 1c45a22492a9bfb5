"""Installing: from what a command line asks for to an environment; what install, upgrade and bundle have in common."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.cli.busy import Busy
from envsolve.cli.chosen import Chosen, Manager, plan_json, show_no
from envsolve.errors import InputError
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.environment.conda import Conda
    from envsolve.environment.environment import Environment
    from envsolve.environment.order import Order
    from envsolve.environment.proof import Proof
    from envsolve.environment.store import Slot
    from envsolve.lock.lock import Lock
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.settings import Settings


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


@record
class Job:
    """An install as it was asked for. `here` holds the files of a bundle by their SHA-256.

    `unless_same`: nothing is done where the environment has this very lock and is verified.
    """

    slot: Slot
    settings: Settings
    installer: Tool = Tool.AUTO
    manager: Manager = Manager.VENV
    channels: tuple[str, ...] = ()
    replace: bool = False
    verify: When = When.NOW
    project: Path | None = None
    asked: tuple[str, ...] = ()
    here: dict[str, Path] | None = None
    unless_same: bool = False
    as_json: bool = False


def carry_out(job: Job, found: Chosen | NoPlan | NeedsInput) -> int:
    """Make the environment and show it, or show why not; the exit code."""
    if not isinstance(found, Chosen):
        show_no(found, as_json=job.as_json)
        return 1
    if job.unless_same and _is_same(job.slot, found):
        talk.say(f"nothing newer: {job.slot.shown_name} has this lock and is verified")
        return 0
    show(make(job, found), as_json=job.as_json)
    return 0


def make(job: Job, chosen: Chosen) -> Environment:
    """Make the environment, verified unless later. Raises as environment.install does."""
    if job.project:
        _check_project(job.project, chosen.lock)
    return _install(job, _order(job, chosen))


def _is_same(slot: Slot, found: Chosen) -> bool:
    from envsolve.environment.marker import LOCK_COPY, read_marker
    from envsolve.lock.stale import difference

    build = slot.current()
    marker = read_marker(build) if build else None
    if build is None or marker is None or marker.stage != "verified":
        return False
    return not difference((build / LOCK_COPY).read_text(encoding="utf-8"), found.text, LOCK_COPY)


def _check_project(project: Path, lock: Lock) -> None:
    from envsolve.environment.project import check_project

    for line in check_project(project, lock):
        talk.say(f"note: {line}")


def slot_of(name: str | None, path: Path | None, example: str = "envsolve install --name pytorch_new") -> Slot:
    """Where the environment of --name or --path is. Raises InputError, with `example` as its hint."""
    from envsolve.environment.home import data_home
    from envsolve.environment.store import Store, project_slot

    if (name is None) == (path is None):
        raise InputError("give either --name NAME or --path DIR", hint=example)
    return project_slot(path) if path is not None else Store(data_home()).slot(name or "")


def _order(job: Job, chosen: Chosen) -> Order:
    from envsolve.environment.fill import choose_installer
    from envsolve.environment.order import Order, next_best

    plan, slot = chosen.plan, job.slot
    place = ["--name", slot.name] if slot.named else ["--path", slot.shown_name]
    channels = [word for channel in job.channels for word in ("--conda-channel", channel)]
    conda = ["--manager", "conda", *channels] if job.manager is Manager.CONDA else []
    flags = [*conda, *place, *(["--replace"] if job.replace else [])]
    return Order(
        lock=chosen.lock,
        lock_text=chosen.text,
        installer=choose_installer(job.installer.value),
        settings=job.settings,
        replace=job.replace,
        verify=job.verify.value,
        plan=plan_json(plan) if plan else None,
        next_best=next_best(plan, flags, job.settings) if plan else "",
        here=job.here or {},
        conda=_conda(job, chosen) if job.manager is Manager.CONDA else None,
        project=job.project,
        asked=job.asked,
    )


def _conda(job: Job, chosen: Chosen) -> Conda:
    from envsolve.dotted import Dotted
    from envsolve.environment.conda import Conda, find_conda
    from envsolve.lock.virtual import virtual_packages
    from envsolve.machine.detect import detect
    from envsolve.rulebook.load import load

    machine = chosen.plan.machine if chosen.plan else detect()
    return Conda(
        tool=find_conda(),
        channels=job.channels or chosen.lock.channels,
        python=chosen.lock.python,
        platform=chosen.lock.platform,
        virtual=virtual_packages(machine, load(), glibc=Dotted.parse("2.17")),
    )


def _install(job: Job, order: Order) -> Environment:
    from envsolve.environment.install import install
    from envsolve.environment.interrupts import kill_is_interrupt
    from envsolve.environment.pythons import find_python

    python = None if order.conda else find_python(order.lock.python)
    slot = job.slot
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


def show(environment: Environment, *, as_json: bool) -> None:
    """Print the environment and how to switch it on."""
    from envsolve.environment.activate import activation_lines
    from envsolve.environment.listing import SCHEMA, environment_json

    if as_json:
        print(json.dumps({"schema": SCHEMA, **environment_json(environment)}))
        return
    torch = f", torch {environment.torch}" if environment.torch else ""
    talk.say(f"{environment.state}: {environment.path} (Python {environment.python}{torch})")
    if environment.state == "unverified":
        which = ["--name", environment.name] if environment.name else ["--path", str(environment.path)]
        talk.say(f"not proven yet: {shlex.join(['envsolve', 'verify', *which])}")
    talk.say("to switch it on:")
    for shell, line in activation_lines(environment.path).items():
        print(f"{shell + ':':<12}{line}")
