"""Chosen: what will be installed, from a lock that is there or planned now; or why nothing is."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envsolve.cli import talk
from envsolve.cli.busy import Busy
from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.lock.lock import Lock
    from envsolve.resolve.plan import NeedsInput, NoPlan, Plan
    from envsolve.settings import Settings


class Manager(StrEnum):
    """The values of --manager."""

    VENV = "venv"
    CONDA = "conda"


@record
class Chosen:
    """What will be installed: the lock, its text as a requirements file, and the plan behind it where there is one."""

    lock: Lock
    text: str
    plan: Plan | None = None


def read_lock(file: Path, wanted: Asked, *, for_here: bool = True) -> Chosen:
    """The lock in a file, which decides everything: nothing else may be asked for beside it.

    `for_here`: it must be one for this machine. Raises InputError, RefusedError.
    """
    from envsolve.environment.order import check_platform
    from envsolve.lock import requirements_txt
    from envsolve.lock.formats import read
    from envsolve.machine.host import this_host

    if wanted.anything:
        raise InputError(
            "--lock says what to install: give no requirements, files, --target, --gpus, --variant beside it"
        )
    try:
        text = file.read_text(encoding="utf-8-sig")  # editors on Windows put a mark before it
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise InputError(f"can't read the lock {file}: {why}", hint="envsolve lock writes one") from error
    minor = ".".join((wanted.python or "").split(".")[:2])
    lock = read(text, file.name, platform=this_host().platform, python=minor)
    if for_here:
        check_platform(lock.platform, this_host().platform)
    if wanted.python and wanted.python.split(".")[:2] != lock.python.split("."):
        raise InputError(f"the lock {file} is for Python {lock.python}, not {wanted.python}", hint="leave --python out")
    # A text of several targets, or in another format, is written anew with the packages of this one only.
    alone = file.suffix == ".txt" and len(requirements_txt.read_all(text, what=file.name)) == 1
    return Chosen(lock=lock, text=text if alone else requirements_txt.write(lock))


def planned(
    wanted: Asked, settings: Settings, *, for_here: bool = True, manager: Manager = Manager.VENV
) -> Chosen | NoPlan | NeedsInput:
    """The lock for what is wanted, or why there is none.

    `for_here`: it must be one for this machine, and unless conda brings the Python, that must be here.
    """
    from envsolve.environment.order import check_platform
    from envsolve.environment.pythons import find_python
    from envsolve.lock import requirements_txt
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.host import this_host

    with Busy() as busy:
        busy.say("planning")
        machine, request = wanted.settled(source=settings.source, mirror=settings.mirror)
        if for_here:
            check_platform(machine.platform, this_host().platform)
        if for_here and machine.python and manager is Manager.VENV:
            find_python(machine.python)  # before anything is asked of an index
        locked = wanted.locked(machine, request, settings)
    if not isinstance(locked, Locked):
        return locked
    for line in (*locked.differences, *(note.text for note in locked.plan.notes)):
        talk.say(f"note: {line}")
    return Chosen(lock=locked.lock, text=requirements_txt.write(locked.lock), plan=locked.plan)


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan as JSON values."""
    from envsolve.resolve.answer_json import as_json

    return as_json(plan)


def show_no(answer: NoPlan | NeedsInput, *, as_json: bool) -> None:
    """Print why there is no plan."""
    from envsolve.resolve.answer_json import as_json as to_json
    from envsolve.resolve.answer_text import as_text

    print(json.dumps(to_json(answer), ensure_ascii=False) if as_json else as_text(answer))
