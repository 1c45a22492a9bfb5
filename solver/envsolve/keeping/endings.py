"""Endings: what a target's lock rests on that has ended, or ends soon. The day comes from the caller."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from envsolve.judge.host import minor_of, python_refusal
from envsolve.keeping import last_wheels
from envsolve.keeping.driver_end import driver_endings
from envsolve.keeping.finding import Finding
from envsolve.keeping.month import months_until, told
from envsolve.lock.lock import Lock
from envsolve.machine.machine import Machine
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build

AHEAD = 6  # months


def endings(lock: Lock, machine: Machine, rulebook: Rulebook, *, today: date, ahead: int = AHEAD) -> Iterator[Finding]:
    """The warnings for a lock on a machine whose GPUs have a capability where it is known. `ahead` is in months."""
    builds = rulebook.builds_on(machine.platform)
    yield from last_wheels.of_cards(machine, builds, rulebook)
    yield from last_wheels.of_variant(lock.variant, builds, rulebook)
    yield from driver_endings(machine, rulebook, today=today, ahead=ahead)
    yield from _python(lock, builds, rulebook, today=today, ahead=ahead)


def _python(lock: Lock, builds: tuple[Build, ...], rulebook: Rulebook, *, today: date, ahead: int) -> Iterator[Finding]:
    minor = lock.python.rstrip("t")
    row = rulebook.python_ends.get(minor)
    left = months_until(row.end_of_life, today) if row else None
    if row and left is not None and left <= ahead:
        code = "python-ended" if left < 0 else "python-ending"
        text = f"Python {minor} {told(row.end_of_life, today)}"
        yield Finding(code=code, text=text, hint=_newer(rulebook, today), certainty=row.certainty, source=row.source)
    yield from _last_python(lock, builds)


def _newer(rulebook: Rulebook, today: date) -> str:
    kept = [row for row in rulebook.python_ends.values() if months_until(row.end_of_life, today) > 0]
    return f"Python {kept[-1].python} is kept until {kept[-1].end_of_life}" if kept else ""


def _last_python(lock: Lock, builds: tuple[Build, ...]) -> Iterator[Finding]:
    """The Python is older than any that the newest torch is built for."""
    newest = last_wheels.newest(builds)
    if not newest or any(minor_of(lock.python) >= build.python[0] for build in newest):
        return
    serving = [build for build in builds if python_refusal(build, lock.python) is None]
    if serving:
        last = max(serving, key=lambda build: build.torch)
        text = f"torch {newest[0].torch} has no build for Python {lock.python}: {last.torch} is the last"
        sure = last_wheels.lowest(*(build.certainty for build in newest))
        hint = f"Python {newest[0].python[0]} or newer"
        yield Finding(code="python-last-wheel", text=text, hint=hint, certainty=sure, source=newest[0].source)
