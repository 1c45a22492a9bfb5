"""Carry out a lock order: solve each target, then write every file or compare it with what it holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envsolve.cli import talk
from envsolve.cli.lock_order import Job, LockOrder
from envsolve.errors import OutsideError
from envsolve.record import record, replace

if TYPE_CHECKING:
    from envsolve.lock.conda import CondaPart
    from envsolve.lock.lock import Lock
    from envsolve.lock.lock_plan import Locked
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.settings import Settings


@record
class WorkedOut:
    """The answer for each job, and the texts of the outputs."""

    found: tuple[Locked, ...]
    texts: dict[Path, str]


@record
class NoLock:
    """The first job that has no lock, and why."""

    job: Job
    answer: NoPlan | NeedsInput


def carry_out(order: LockOrder, settings: Settings, *, as_json: bool) -> int:
    """Lock every target, then write or check every output. The exit code: 1 where the answer is no."""
    worked = work_out(order, settings)
    if isinstance(worked, NoLock):
        show_no(worked, several=len(order.jobs) > 1, as_json=as_json)
        return 1
    if order.snippet:
        return _print_snippet(order.snippet, worked.found)
    if order.check:
        return _compare(order.former, worked.texts)
    _write(worked.texts, order)
    _show(worked.found, order, as_json=as_json)
    return 0


def work_out(order: LockOrder, settings: Settings) -> WorkedOut | NoLock:
    """Solve every target and make the texts of the outputs; nothing is written."""
    from envsolve.lock.lock_plan import Locked

    found: list[Locked] = []
    for job in order.jobs:
        answer = _make(job, order, settings)
        if not isinstance(answer, Locked):
            return NoLock(job=job, answer=answer)
        found.append(answer)
    held = {package.name for answer in found for package in answer.lock.packages}
    for name in sorted(order.upgrade - held):
        talk.say(f"note: the lock holds no {name}, so that --upgrade-package changes nothing there")
    if order.snippet:
        return WorkedOut(found=tuple(found), texts={})
    locks = [_with_conda(answer.lock, order, settings) for answer in found]
    return WorkedOut(found=tuple(found), texts=_texts(order, locks))


def _texts(order: LockOrder, locks: Sequence[Lock]) -> dict[Path, str]:
    from envsolve.lock import formats

    return {
        output.path: formats.format_of(output.path.name).write(*(locks[number] for number in output.jobs))
        for output in order.outputs
    }


def _write(texts: dict[Path, str], order: LockOrder) -> None:
    from envsolve.cli.written import write_all

    for folder in order.folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutsideError(f"can't make the folder {folder}: {error.strerror}") from error
    write_all(texts)


def _compare(former: dict[Path, str], texts: dict[Path, str]) -> int:
    from envsolve.lock.stale import difference

    stale = 0
    for path, text in texts.items():
        diff = difference(former.get(path, ""), text, path.name)
        if diff:
            stale += 1
            print(diff)
            talk.say(f"{path} no longer answers its inputs" if path in former else f"{path} is not there")
    return 1 if stale else 0


def _make(job: Job, order: LockOrder, settings: Settings) -> Locked | NoPlan | NeedsInput:
    """The lock for one target, solved against the indexes of the settings, with a moving line meanwhile."""
    from envsolve.cli.busy import Busy
    from envsolve.cli.former_lock import former_lock
    from envsolve.index.package_index import open_index
    from envsolve.lock.lock_plan import lock_plan
    from envsolve.rulebook.load import load

    machine = job.machine
    keep = None if order.upgrade_all else former_lock(order.former, job.place)
    # Source archives are seldom taken; but only with them is seen that a package has releases, and for whom.
    opened = open_index(
        settings, python=machine.python or "", platform=machine.platform, sdists=True, build=job.request.sdists
    )
    with Busy() as busy, opened as index:
        busy.line("asking the indexes")
        found = lock_plan(machine, job.request, load(), index, command=order.command, keep=keep, upgrade=order.upgrade)
    for warning in index.warnings:
        talk.say(f"note: {warning}")
    return found


def _with_conda(lock: Lock, order: LockOrder, settings: Settings) -> Lock:
    """The lock with the channels that were asked for, and with its conda part where a file wants one."""
    from envsolve.cli.former_lock import former_conda
    from envsolve.lock import formats
    from envsolve.lock.conda import DEFAULT_CHANNELS
    from envsolve.redact import strip_credentials

    channels = order.channels or DEFAULT_CHANNELS  # those of the lock go without user and password
    lock = replace(lock, channels=tuple(map(strip_credentials, channels)))
    if not any(formats.format_of(output.path.name).conda for output in order.outputs):
        return lock
    kept = None if order.upgrade_all else former_conda(order.former, lock)
    return replace(lock, conda=kept or _solved_conda(lock, channels, settings))


def _solved_conda(lock: Lock, channels: Sequence[str], settings: Settings) -> CondaPart:
    from envsolve.index import conda
    from envsolve.lock.conda import SUBDIRS, CondaPackage, CondaPart, python_specs

    packages = conda.solve(
        channels,
        python_specs(lock.python),
        subdir=SUBDIRS[lock.platform],
        virtual=[(virtual.name, virtual.version, virtual.build) for virtual in lock.virtual],
        cache_dir=settings.cache_dir,
        offline=settings.offline,
    )
    return CondaPart(channels=lock.channels, packages=tuple(CondaPackage(**package) for package in packages))


def _print_snippet(tool: str, found: Sequence[Locked]) -> int:
    from envsolve.lock.snippets import snippet

    print(snippet(tool, [answer.lock for answer in found]), end="")
    return 0


def show_no(no: NoLock, *, several: bool, as_json: bool) -> None:
    """Print why a target has no lock; of `several` with its name."""
    from envsolve.resolve.answer_json import as_json as to_json
    from envsolve.resolve.answer_text import as_text

    if several:
        talk.say(f"no lock for {no.job.asked.target}; nothing was written")
    print(json.dumps(to_json(no.answer), ensure_ascii=False) if as_json else as_text(no.answer, explain=False))


def _show(found: Sequence[Locked], order: LockOrder, *, as_json: bool) -> None:
    say_notes(found)
    if as_json:
        print(json.dumps(_as_json(found, order), ensure_ascii=False))
        return
    for output in order.outputs:
        for number in output.jobs:
            lock = found[number].lock
            talk.say(f"wrote {output.path}: {len(lock.packages)} packages for {lock.header.target}")


def say_notes(found: Sequence[Locked]) -> None:
    """What people should know of locks: how they differ from the plan, what is built, what is on this disk only."""
    for answer in found:
        for difference in answer.differences:
            talk.say(f"note: {difference}")
        if built := _built(answer.lock):
            talk.say(f"note: built where they are installed, which runs their code: {', '.join(built)}")
        if answer.lock.header.local:
            names = ", ".join(answer.lock.header.local)
            talk.say(f"note: from this machine's disk, so that the lock may not work elsewhere: {names}")


def _built(lock: Lock) -> list[str]:
    """The packages that are locked as source archives."""
    from envsolve.lock.lock import is_sdist

    return [f"{p.name} {p.version}" for p in lock.packages if any(is_sdist(file.filename) for file in p.files)]


def _as_json(found: Sequence[Locked], order: LockOrder) -> dict[str, Any]:
    """The plan with what was locked; of several targets each in `targets`."""
    from envsolve.resolve.answer_json import SCHEMA
    from envsolve.resolve.answer_json import as_json as to_json

    each = []
    for number, answer in enumerate(found):
        packages = [{"name": p.name, "version": str(p.version)} for p in answer.lock.packages]
        files = [output.path.as_posix() for output in order.outputs if number in output.jobs]
        each.append({**to_json(answer.plan), "lock": {"files": files, "packages": packages}})
    if len(each) == 1:
        return each[0]
    targets = [{"target": job.asked.target, **one} for job, one in zip(order.jobs, each, strict=True)]
    return {"schema": SCHEMA, "status": "solved", "targets": targets}
