"""Checking: the files of a project, read and held to its declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli.declaration import asked_for
from envsolve.record import replace

if TYPE_CHECKING:
    from datetime import date

    from envsolve.cli.lock_order import LockOrder
    from envsolve.cli.planned import Asked
    from envsolve.keeping.checked import Checked, LockFile
    from envsolve.keeping.declared import Declared, DeclaredTarget
    from envsolve.keeping.finding import Finding
    from envsolve.settings import Settings


def targets_checked(declared: Declared, *, today: date, ahead: int) -> list[Checked]:
    """Each declared target against its locks. Asks no index. Raises InputError for a declaration that can't be met:
    an input that is not there, a machine that can't be read."""
    from envsolve.cli import asked
    from envsolve.keeping.checked import Aim, check_target
    from envsolve.rulebook.load import load

    files: dict[str, LockFile] = {}
    outcome = []
    for target in declared.targets:
        wanted = asked_for(declared, target)
        aim = Aim(
            name=target.machine,
            machine=asked.machine(target.machine, None),
            wishes=wanted.wishes(),
            inputs=", ".join(declared.requirements),
            gpus=asked.gpus_of(target.gpus),
            allowed=declared.variants_of(target),
        )
        held = [files.setdefault(name, _lock_file(name)) for name in declared.locks_of(target)]
        outcome.append(check_target(aim, held, load(), today=today, ahead=ahead))
    return outcome


def _lock_file(name: str) -> LockFile:
    """A file, read as the format that goes with its name. Raises InputError for a name of no format."""
    from envsolve.errors import InputError
    from envsolve.keeping.checked import LockFile
    from envsolve.lock import formats

    path = Path(name)
    chosen = formats.format_of(path.name)
    try:
        text = path.read_text(encoding="utf-8")
        return LockFile(path=name, locks=chosen.read(text, path.name), hashed=chosen.hashed)
    except FileNotFoundError:
        return LockFile(path=name, missing=True)
    except OSError as error:
        return LockFile(path=name, error=f"can't be read: {error.strerror}")
    except UnicodeDecodeError:
        return LockFile(path=name, error="is not UTF-8 text")
    except InputError as error:
        return LockFile(path=name, error=error.message.removeprefix(path.name).lstrip(" ,:"))


def solved_anew(
    declared: Declared, outcome: Sequence[Checked], settings_for: Callable[[Sequence[str]], Settings]
) -> list[Checked]:
    """The outcome with what solving the requirements anew shows; targets that do not fit anyway are left alone.
    `settings_for` says where the packages of some lock files come from."""
    found = list(outcome)
    for numbers in groups(declared):
        if not all(found[number].fits for number in numbers):
            continue
        targets = [declared.targets[number] for number in numbers]
        settings = settings_for(declared.locks_of(targets[0]))
        order = order_for(declared, [(target, asked_for(declared, target)) for target in targets], settings)
        stale = _stale(order, settings)
        for number in numbers if stale else ():
            found[number] = replace(found[number], problems=stale, runs=())
    return found


def groups(declared: Declared) -> list[list[int]]:
    """The targets that share their files, by number: they are solved for one lock."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, target in enumerate(declared.targets):
        groups.setdefault(declared.locks_of(target), []).append(number)
    return list(groups.values())


def order_for(
    declared: Declared,
    asking: Sequence[tuple[DeclaredTarget, Asked]],
    settings: Settings,
    *,
    sources: Mapping[str, object] | None = None,
) -> LockOrder:
    """The lock order for targets that share their files, each with what is asked for it; `sources` are the options on
    indexes, for the command in the locks. Raises InputError."""
    from envsolve.cli.lock import order_of
    from envsolve.cli.lock_order import Job

    jobs = []
    for _, wanted in asking:
        machine, request = wanted.settled(source=settings.source, mirror=settings.mirror)
        jobs.append(Job(asked=wanted, machine=machine, request=request))
    first = asking[0][0]
    command = asked_for(declared, first).command(sources, targets=[target.machine for target, _ in asking])
    return order_of(list(declared.locks_of(first)), jobs, command=command)


def _stale(order: LockOrder, settings: Settings) -> tuple[Finding, ...]:
    from envsolve.cli.locking import NoLock, work_out
    from envsolve.errors import RefusedError
    from envsolve.keeping.finding import Finding
    from envsolve.lock.stale import difference
    from envsolve.resolve.answer_text import as_text

    try:
        worked = work_out(order, settings)
    except RefusedError as error:
        return (Finding(code="stale", text=error.message, hint=error.hint),)
    if isinstance(worked, NoLock):
        return (Finding(code="stale", text=as_text(worked.answer, explain=False)),)
    diffs = {path: difference(order.former.get(path, ""), text, path.name) for path, text in worked.texts.items()}
    return tuple(
        Finding(code="stale", text=f"no longer answers its inputs\n{diff}", file=path.as_posix(), hint="envsolve lock")
        for path, diff in diffs.items()
        if diff
    )
