"""Fitting: whether a lock still runs on a machine: the torch family's pins, the wheels, the hashes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from envsolve.dotted import Dotted
from envsolve.judge.accelerator import vendor_of
from envsolve.keeping.finding import Finding
from envsolve.lock.lock import Lock, LockedPackage, is_sdist
from envsolve.machine.machine import Machine
from envsolve.regex import regex
from envsolve.resolve.plan import Answer, NoPlan, Plan
from envsolve.resolve.planner import plan
from envsolve.resolve.request import TRIO, Request
from envsolve.resolve.target_env import target_env
from envsolve.rulebook.rulebook import Rulebook

Gpus = Literal["all", "best", "visible"] | tuple[int, ...]

_JUDGED = (*TRIO, "numpy")
_GLIBC = regex(r"glibc >= (\d+\.\d+)")
_SHA256 = regex(r"[0-9a-f]{64}")


def judged(lock: Lock, machine: Machine, gpus: Gpus, rulebook: Rulebook, *, target: str) -> Answer | None:
    """What the planner says of exactly the pins of a lock; None for one without torch. `target`: as it is declared."""
    pins = [package for package in lock.packages if package.name in _JUDGED]
    if not any(package.name == TRIO[0] for package in pins):
        return None
    request = Request(
        requirements=tuple(Requirement(f"{pin.name}=={pin.version.public}") for pin in pins),
        variant=lock.variant,
        gpus=gpus,
        source="pytorch" if lock.index_url else "pypi",
        target=target,
    )
    return plan(machine, request, rulebook)


def fit_problems(
    lock: Lock, machine: Machine, answer: Answer | None, *, file: str, allowed: Sequence[str], hashed: bool
) -> Iterator[Finding]:
    """Everything that keeps a lock from the machine. `hashed`: the file's format holds hashes."""
    if isinstance(answer, NoPlan):
        text = f"{_pins(lock)} does not run: {_reason(answer)}"
        yield Finding(code="does-not-run", text=text, file=file, hint=_way_out(answer))
    elif answer is not None and not isinstance(answer, Plan):
        text = "; ".join(f"{missing.field}: {missing.how}" for missing in answer.missing)
        yield Finding(code="more-must-be-known", text=text, file=file, hint="say it in the target's machine")
    yield from _variant(lock, machine, file, allowed)
    yield from _host(lock, machine, file)
    if hashed:
        yield from (
            Finding(code="hash-missing", text=f"{p.name} {p.version} has no hash", file=file, hint="envsolve lock")
            for p in lock.packages
            if not p.files or not all(_SHA256.fullmatch(one.sha256) for one in p.files)
        )


def _pins(lock: Lock) -> str:
    family = [f"{p.name} {p.version.public}" for p in lock.packages if p.name in TRIO]
    return f"{', '.join(family)} ({lock.variant})"


def _reason(answer: NoPlan) -> str:
    """Why the pinned build is refused; the planner's own word where there is no such build."""
    refusals = next((refused.refusals for refused in answer.refused if refused.refusals), ())
    return refusals[0].text if refusals else answer.guilty


def _way_out(answer: NoPlan) -> str:
    target = f" --target {shlex.quote(answer.request.target)}" if answer.request.target else ""
    return f"envsolve plan{target} says what does; envsolve lock --upgrade takes it"


def _variant(lock: Lock, machine: Machine, file: str, allowed: Sequence[str]) -> Iterator[Finding]:
    if allowed and lock.variant not in allowed:
        text = f"holds {lock.variant}, and {' or '.join(allowed)} is allowed"
        yield Finding(code="variant-not-allowed", text=text, file=file, hint=f"envsolve lock --variant {allowed[0]}")
    elif lock.variant == "cpu" and not allowed and machine.gpus and vendor_of(machine) in ("nvidia", "amd"):
        text = "holds the CPU build, and the target has a GPU"
        yield Finding(code="cpu-build", text=text, file=file, hint='variants = ["cpu"] in the target allows it')


def _host(lock: Lock, machine: Machine, file: str) -> Iterator[Finding]:
    needed = _GLIBC.search(lock.header.target)
    has = machine.libc.version if machine.libc is not None else None
    lowest = Dotted.parse(needed[1]) if needed else None
    if lowest is not None and has is not None and has < lowest:
        text = f"needs glibc {lowest}, and the target has {has}"
        yield Finding(code="glibc-too-old", text=text, file=file, hint="envsolve lock for this target")
        return
    env = target_env(machine, lock.python, lowest)
    for package in lock.packages:
        wheels = [file.filename for file in package.files if file.filename and not is_sdist(file.filename)]
        if wheels and not _has_sdist(package) and not any(env.best_rank(_tags(wheel)) is not None for wheel in wheels):
            text = f"{package.name} {package.version} has no wheel for the target ({wheels[0]})"
            yield Finding(code="wheel-unfit", text=text, file=file, hint="envsolve lock for this target")


def _has_sdist(package: LockedPackage) -> bool:
    return any(is_sdist(file.filename) for file in package.files)


def _tags(wheel: str) -> frozenset[Tag]:
    try:
        return parse_wheel_filename(wheel)[3]
    except InvalidWheelFilename:
        return frozenset()
