"""Listing: what is in the store, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envsolve.environment.environment import Environment
from envsolve.environment.install import environment_of
from envsolve.environment.marker import read_marker
from envsolve.environment.store import Slot, Store
from envsolve.errors import InputError

SCHEMA = 1


def environments(store: Store) -> tuple[Environment, ...]:
    """Every environment by name; one that failed verification follows the one that its name leads to."""
    return tuple(found for name in store.names() for found in _of_slot(store.slot(name)))


def damaged(store: Store) -> tuple[str, ...]:
    """The names that lead to a build whose marker can't be read."""
    return tuple(name for name in store.names() if (slot := store.slot(name)).taken and not slot.current())


def find(slot: Slot) -> Environment:
    """The environment that a name leads to. Raises InputError when there is none."""
    build = slot.current()
    marker = read_marker(build) if build else None
    if build is None or marker is None:
        aside = f"; one that failed verification is at {slot.failed()[-1]}" if slot.failed() else ""
        raise InputError(f"there is no environment {slot.shown_name!r}{aside}", hint="envsolve envs list")
    return environment_of(slot, build, marker)


def environment_json(environment: Environment) -> dict[str, Any]:
    """One environment as JSON values, with the plan and the last verification that its marker holds."""
    marker = read_marker(environment.path)
    return {
        "name": environment.name,
        "path": str(environment.path),
        "interpreter": str(environment.interpreter),
        "python": environment.python,
        "state": environment.state,
        "torch": environment.torch,
        "variant": environment.variant,
        "lock_sha256": environment.lock_sha256,
        "size_bytes": environment.size_bytes,
        "plan": marker.plan if marker else None,
        "verification": marker.report if marker else None,
    }


def _of_slot(slot: Slot) -> Iterator[Environment]:
    current = slot.current()
    for build in (*((current,) if current else ()), *slot.failed()):
        marker = read_marker(build)
        if marker:
            yield environment_of(slot, build, marker)
