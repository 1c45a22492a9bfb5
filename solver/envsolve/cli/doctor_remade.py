"""Remade: the environment that `doctor --fix` makes beside an ill one, from what was asked for of that one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envsolve.cli import talk
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.cli.chosen import Chosen
    from envsolve.doctor.situation import Situation
    from envsolve.doctor.top_level import Held, TopLevel
    from envsolve.environment.environment import Environment
    from envsolve.errors import RefusedError
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.settings import Settings

    Answer = Locked | NoPlan | NeedsInput | RefusedError


@record
class Remedy:
    """What will be made: the lock with its plan, and the pins that had to be loosened."""

    chosen: Chosen
    asked: tuple[str, ...]
    loosened: tuple[str, ...]


@record
class Change:
    """One package in the old environment and in the new one; before is "" where it was not there."""

    name: str
    before: str
    after: str


class Search:
    """Locks for one machine, each question asked once. The torch that a user has stays where it runs."""

    def __init__(self, machine: Machine, python: str, settings: Settings) -> None:
        self._machine, self._python, self._settings = machine, python, settings
        self._known: dict[tuple[str, ...], Answer] = {}

    def remedy(
        self, wanted: TopLevel, torches: tuple[str, ...], guilty: tuple[str, ...] = ()
    ) -> Remedy | NoPlan | NeedsInput:
        """The lock that keeps the most: all pins under one of these torches, all but those of the `guilty` packages,
        all under any torch, else fewer pins.

        Raises RefusedError where the packages can't be had together whatever their versions, and OutsideError.
        """
        from envsolve.doctor.top_level import loose

        same = [self._family(wanted, torch) for torch in torches]
        families = [*same, wanted.family]
        blamed = tuple(pin for pin in wanted.pins if loose(pin) in guilty)
        kept = tuple(pin for pin in wanted.pins if pin not in blamed)
        tries = [
            *((family, kept, blamed) for family in same if blamed),
            *((family, wanted.pins, ()) for family in families),
        ]
        for family, pins, gone in tries:
            if found := self._remedy((*family, *wanted.direct, *pins, *map(loose, gone)), gone):
                return found
        return self._loosened(wanted, families)

    def _family(self, wanted: TopLevel, torch: str) -> tuple[str, ...]:
        return tuple(f"torch=={torch}" if name == "torch" else name for name in wanted.family)

    def _loosened(self, wanted: TopLevel, families: list[tuple[str, ...]]) -> Remedy | NoPlan | NeedsInput:
        from envsolve.doctor.keepable import keepable
        from envsolve.doctor.top_level import loose
        from envsolve.errors import RefusedError
        from envsolve.lock.lock_plan import Locked

        names = tuple(map(loose, wanted.pins))
        for family in families:
            base = (*family, *wanted.direct, *names)
            if not self._solves(base):
                continue
            kept = keepable(wanted.pins, lambda pins, base=base: self._solves((*base, *pins)))  # type: ignore[misc]
            gone = tuple(pin for pin in wanted.pins if pin not in kept)
            if found := self._remedy((*family, *wanted.direct, *kept, *map(loose, gone)), gone):
                return found
        last = self._ask((*families[-1], *wanted.direct, *names))
        if isinstance(last, Exception):
            elsewhere = "--index, --extra-index or --find-links name a place that has it"
            raise RefusedError(last.message, hint=last.hint or elsewhere)
        assert not isinstance(last, Locked)  # it would have been kept above
        return last

    def _solves(self, requirements: tuple[str, ...]) -> bool:
        from envsolve.lock.lock_plan import Locked

        return isinstance(self._ask(requirements), Locked)

    def _remedy(self, requirements: tuple[str, ...], loosened: tuple[str, ...]) -> Remedy | None:
        from envsolve.cli.chosen import Chosen
        from envsolve.lock import requirements_txt
        from envsolve.lock.lock_plan import Locked

        locked = self._ask(requirements)
        if not isinstance(locked, Locked):
            return None
        for line in (*locked.differences, *(note.text for note in locked.plan.notes)):
            talk.detail(f"note: {line}")
        text = requirements_txt.write(locked.lock)
        words = (*requirements, "--python", self._python)
        return Remedy(chosen=Chosen(lock=locked.lock, text=text, plan=locked.plan), asked=words, loosened=loosened)

    def _ask(self, requirements: tuple[str, ...]) -> Answer:
        if requirements not in self._known:
            self._known[requirements] = self._locked(requirements)
        return self._known[requirements]

    def _locked(self, requirements: tuple[str, ...]) -> Answer:
        from envsolve.cli import asked
        from envsolve.cli.planned import Asked
        from envsolve.errors import InputError, RefusedError

        wanted = Asked(requirements=list(requirements), python=self._python)
        try:
            request = asked.request(
                wanted.requirements, wanted.wishes(), target=None, gpus="all", variant=None,
                source=self._settings.source, mirror=self._settings.mirror,
            )  # fmt: skip
            return wanted.locked(self._machine, request, self._settings)
        except RefusedError as error:
            return error
        except InputError as error:  # a version that the rules know to be nobody's
            return RefusedError(error.message, hint=error.hint)


def torches(s: Situation) -> tuple[str, ...]:
    """The torches to stay with where they run here: the one that a later install replaced, then the present one."""
    from envsolve.doctor.fixes import planned, same_version
    from envsolve.doctor.swap import last_swap

    swap = last_swap(s.evidence)
    wished = dict.fromkeys(filter(None, [swap.before.split("+")[0] if swap else "", same_version(s)]))
    plans = {version: planned(s, torch=version) for version in wished}
    return tuple(v for v, plan in plans.items() if plan and any(str(p.version) == v for p in plan.packages))


def changes(old: tuple[Held, ...], remedy: Remedy) -> Iterator[Change]:
    """What is another in the new environment, the torch family first; what came along and is gone is not told."""
    from envsolve.doctor.top_level import FAMILY

    before = {one.name: one.version for one in old}
    for package in sorted(remedy.chosen.lock.packages, key=lambda p: (p.name not in FAMILY, p.name)):
        after = str(package.version)
        if before.get(package.name) != after:
            yield Change(name=package.name, before=before.get(package.name, ""), after=after)


def reinstalls(wanted: TopLevel, made: Environment, project: Path | None) -> tuple[str, ...]:
    """The commands that put back what no lock takes: local projects and source addresses."""
    import shlex

    here = [one for one in wanted.apart if not (project and one.folder and Path(one.folder).resolve() == project)]
    pip = [str(made.interpreter), "-m", "pip", "install", "--no-deps"]
    return tuple(shlex.join([*pip, *one.apart]) for one in here)


def as_json(made: Environment, remedy: Remedy, changed: tuple[Change, ...], again: tuple[str, ...]) -> dict[str, Any]:
    """What was made, as JSON values."""
    from envsolve.environment.listing import environment_json

    return {
        "made": environment_json(made),
        "changes": [{"name": c.name, "before": c.before or None, "after": c.after} for c in changed],
        "loosened": list(remedy.loosened),
        "reinstall": list(again),
    }
