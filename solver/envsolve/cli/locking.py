"""Carry out a lock order: solve against the indexes, then write every file or compare it with what it holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk

if TYPE_CHECKING:
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.resolve.request import Request
    from envsolve.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Which files to write or check, what they hold now, and what may change in them."""

    outputs: list[Path]
    former: dict[Path, str]
    check: bool = False
    upgrade_all: bool = False
    upgrade: frozenset[str] = frozenset()


def order_for(outputs: list[Path], *, check: bool, upgrade: bool, names: list[str]) -> Order:
    """Raises InputError for names of no format and for files of others, before anything is asked of an index."""
    from packaging.utils import canonicalize_name

    from envsolve.cli.former_lock import former_texts
    from envsolve.lock import formats

    for path in outputs:
        formats.writer(path.name)
    former = former_texts(outputs)
    return Order(
        outputs=outputs,
        former=former,
        check=check,
        upgrade_all=upgrade,
        upgrade=frozenset(map(canonicalize_name, names)),
    )


def carry_out(
    order: Order, machine: Machine, request: Request, settings: Settings, *, command: str, as_json: bool
) -> int:
    """Lock, and write or check every output. The exit code: 1 where the answer is no."""
    from envsolve.cli.written import write_all
    from envsolve.lock import formats
    from envsolve.lock.lock_plan import Locked

    found = _make(machine, request, settings, order, command=command)
    if not isinstance(found, Locked):
        _show_no(found, as_json=as_json)
        return 1
    texts = {path: formats.writer(path.name)(found.lock) for path in order.outputs}
    if order.check:
        return _compare(order.former, texts)
    write_all(texts)
    _show(found, order.outputs, as_json=as_json)
    return 0


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


def _make(
    machine: Machine, request: Request, settings: Settings, order: Order, *, command: str
) -> Locked | NoPlan | NeedsInput:
    """The lock for a machine, solved against the indexes of the settings, with a moving line meanwhile."""
    from envsolve.cli.busy import Busy
    from envsolve.cli.former_lock import former_lock
    from envsolve.index.package_index import open_index
    from envsolve.lock.lock_plan import lock_plan
    from envsolve.rulebook.load import load

    keep = None if order.upgrade_all else former_lock(order.former)
    # Source archives are never taken; but only with them is seen that a package has releases, and for whom.
    opened = open_index(settings, python=machine.python or "", platform=machine.platform, sdists=True)
    with Busy() as busy, opened as index:
        busy.line("asking the indexes")
        found = lock_plan(machine, request, load(), index, command=command, keep=keep, upgrade=order.upgrade)
    for warning in index.warnings:
        talk.detail(warning)
    return found


def _show_no(answer: NoPlan | NeedsInput, *, as_json: bool) -> None:
    from envsolve.resolve.answer_json import as_json as to_json
    from envsolve.resolve.answer_text import as_text

    print(json.dumps(to_json(answer), ensure_ascii=False) if as_json else as_text(answer, explain=False))


def _show(found: Locked, outputs: list[Path], *, as_json: bool) -> None:
    for difference in found.differences:
        talk.say(f"note: {difference}")
    if found.lock.header.local:
        names = ", ".join(found.lock.header.local)
        talk.say(f"note: from this machine's disk, so that the lock may not work elsewhere: {names}")
    if as_json:
        from envsolve.resolve.answer_json import as_json as to_json

        packages = [{"name": p.name, "version": str(p.version)} for p in found.lock.packages]
        locked = {"files": [path.as_posix() for path in outputs], "packages": packages}
        print(json.dumps({**to_json(found.plan), "lock": locked}, ensure_ascii=False))
        return
    for path in outputs:
        talk.say(f"wrote {path}: {len(found.lock.packages)} packages for {found.lock.header.target}")
