"""LockOrder: for which targets to lock, which files to write or check, and what may change in them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.record import field, record

if TYPE_CHECKING:
    from envsolve.machine.machine import Machine
    from envsolve.resolve.request import Request

DEFAULT = "requirements.lock.txt"
FOLDER = "lockfiles"


@record
class Job:
    """One target: what was asked, for which machine."""

    asked: Asked
    machine: Machine
    request: Request

    @property
    def place(self) -> tuple[str, str]:
        """What markers know of the target: platform and Python."""
        return self.machine.platform, self.machine.python or ""


@record
class Output:
    """A file and the targets that it holds, as places in the order's jobs."""

    path: Path
    jobs: tuple[int, ...]


@record
class LockOrder:
    """What one run of `envsolve lock` does. `former` holds the texts of the outputs that are there."""

    jobs: tuple[Job, ...]
    outputs: tuple[Output, ...]
    former: dict[Path, str]
    command: str
    check: bool = False
    upgrade_all: bool = False
    upgrade: frozenset[str] = frozenset()
    snippet: str = ""
    channels: tuple[str, ...] = ()
    folders: frozenset[Path] = field(default_factory=frozenset)  # made where they are not there


def jobs_of(asked: Asked, targets: Sequence[str], *, source: str | None, mirror: str | None) -> tuple[Job, ...]:
    """A job for each target, or for this machine. Raises InputError."""
    from envsolve.record import replace

    found = []
    for target in targets or (None,):
        one = replace(asked, target=target)
        machine, request = one.settled(source=source, mirror=mirror)
        found.append(Job(asked=one, machine=machine, request=request))
    return tuple(found)


def outputs_of(names: Sequence[str], jobs: Sequence[Job]) -> tuple[Output, ...]:
    """The files that these names stand for: a folder takes one for each target, named after it.

    Without names: one file where markers can tell the targets apart, else a folder. Raises InputError for names of no
    format, before anything is asked of an index.
    """
    from envsolve.lock import formats

    every = tuple(range(len(jobs)))
    found: list[Output] = []
    for name in names or [_default(jobs)]:
        if _is_folder(name):
            found += _one_each(Path(name), jobs)
            continue
        path = Path(name)
        chosen = formats.format_of(path.name)
        if len(jobs) > 1:
            _check_several(path, chosen.several, jobs)
        found.append(Output(path=path, jobs=every))
        if chosen.conda:
            found.append(Output(path=path.with_name(_virtual_name(path.name)), jobs=every))
    return tuple({output.path: output for output in found}.values())


def _default(jobs: Sequence[Job]) -> str:
    if len(jobs) == 1:
        return DEFAULT
    from envsolve.lock.markers import tell_apart

    try:
        tell_apart([job.place for job in jobs])
    except InputError:
        return f"{FOLDER}/"
    return DEFAULT


def _check_several(path: Path, several: bool, jobs: Sequence[Job]) -> None:
    from envsolve.lock.markers import tell_apart

    if not several:
        raise InputError(f"{path.name} holds one target only", hint=f"-o {FOLDER}/ writes one file for each target")
    tell_apart([job.place for job in jobs])


def _is_folder(name: str) -> bool:
    return name.endswith(("/", os.sep)) or Path(name).is_dir()


def _one_each(folder: Path, jobs: Sequence[Job]) -> list[Output]:
    names = [_short_name(job) for job in jobs]
    if len(set(names)) < len(names):
        names = [_slug(job.asked.target or "") for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two targets are called {name!r}", hint="give each its own -o FILE in a run of its own")
    return [Output(path=folder / f"{name}.txt", jobs=(n,)) for n, name in enumerate(names)]


def _short_name(job: Job) -> str:
    """The stem of a profile, else the cards of a one-line spec with the platform."""
    target = job.asked.target
    if target is None:
        raise InputError("a folder needs targets to name its files after", hint="--target 'RTX 4090,driver=550.54.14'")
    if Path(target).is_file():
        return _slug(Path(target).stem)
    return _slug(f"{target.split(',')[0]} {job.machine.platform}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.") or "target"


def _virtual_name(conda_lock: str) -> str:
    return re.sub(r"conda-lock(?=\.ya?ml$)", "virtual-packages", conda_lock)
