"""Checked: one declared target against its locks, its inputs and the calendar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from envsolve.keeping.answering import answer_problems
from envsolve.keeping.endings import endings
from envsolve.keeping.finding import Finding
from envsolve.keeping.fitting import Gpus, fit_problems, judged
from envsolve.lock.lock import Lock
from envsolve.lock.wishes import Wishes
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.resolve.gpu_choice import chosen
from envsolve.resolve.plan import Plan
from envsolve.resolve.request import Request
from envsolve.resolve.scenarios import know
from envsolve.rulebook.rulebook import Rulebook


@record
class LockFile:
    """A lock file as it was read. `error`: why it could not be; `hashed`: its format holds hashes."""

    path: str
    locks: tuple[Lock, ...] = ()
    error: str = ""
    missing: bool = False
    hashed: bool = False


@record
class Aim:
    """What is asked of a target's locks. `name` is the machine as it was declared, `inputs` names the files behind
    `wishes`, `allowed` are variants (() = any)."""

    name: str
    machine: Machine
    wishes: Wishes
    inputs: str
    gpus: Gpus = "all"
    allowed: tuple[str, ...] = ()


@record
class Checked:
    """The outcome for a target. `runs` says of each lock what runs there: "a.txt: torch 2.11.0+cu128; RTX …"."""

    target: str
    runs: tuple[str, ...]
    problems: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    @property
    def fits(self) -> bool:
        return not self.problems


def check_target(aim: Aim, files: Sequence[LockFile], rulebook: Rulebook, *, today: date, ahead: int) -> Checked:
    """Judge every lock of a target, and warn of what ends within `ahead` months. Raises InputError for GPU indexes
    that are not there."""
    runs: list[str] = []
    problems: list[Finding] = []
    warnings: dict[Finding, None] = {}
    held: list[tuple[str, Lock]] = []
    for file in files:
        lock = _lock_for(aim.machine, file)
        if lock is None:
            problems.append(_absent(aim, file))
            continue
        machine = _at(aim, lock)
        answer = judged(lock, machine, aim.gpus, rulebook, target=aim.name)
        found = [
            *fit_problems(lock, machine, answer, file=file.path, allowed=aim.allowed, hashed=file.hashed),
            *answer_problems(lock, aim.wishes, machine, rulebook, file=file.path, inputs=aim.inputs),
        ]
        problems += found
        held.append((file.path, lock))
        if isinstance(answer, Plan) and not found:
            runs.append(f"{file.path}: {_runs(answer)}")
        used = chosen(know(machine, rulebook).machine, Request(requirements=(), gpus=aim.gpus))
        for ending in endings(lock, used, rulebook, today=today, ahead=ahead):
            # The same end is told once, whatever the number of files.
            warnings.setdefault(replace(ending, file=files[0].path))
    problems += _differences(held)
    return Checked(target=aim.name, runs=tuple(runs), problems=tuple(problems), warnings=tuple(warnings))


def _lock_for(machine: Machine, file: LockFile) -> Lock | None:
    python = "" if "python" in machine.assumed else machine.python or ""
    return next(
        (lock for lock in file.locks if lock.platform == machine.platform and _same_python(lock.python, python)),
        None,
    )


def _same_python(locked: str, asked: str) -> bool:
    minor = ".".join(asked.rstrip("t").split(".")[:2]) + ("t" if asked.endswith("t") else "")
    return not asked or locked == minor


def _absent(aim: Aim, file: LockFile) -> Finding:
    if file.missing:
        return Finding(code="lock-missing", text="is not there", file=file.path, hint="envsolve lock, or envsolve init")
    if file.error:
        return Finding(code="lock-unreadable", text=file.error, file=file.path, hint="envsolve lock makes it anew")
    python = "" if "python" in aim.machine.assumed else f" with Python {aim.machine.python}"
    has = ", ".join(f"{lock.platform} with Python {lock.python}" for lock in file.locks) or "nothing"
    text = f"holds no lock for {aim.machine.platform}{python}: it holds {has}"
    return Finding(code="lock-missing", text=text, file=file.path, hint="envsolve lock with this target")


def _at(aim: Aim, lock: Lock) -> Machine:
    """The machine with the lock's Python where the target leaves it open."""
    if "python" not in aim.machine.assumed and aim.machine.python:
        return aim.machine
    assumed = tuple(name for name in aim.machine.assumed if name != "python")
    return replace(aim.machine, python=lock.python, assumed=assumed)


def _runs(plan: Plan) -> str:
    torch = next((p.label(plan.variant) for p in plan.packages if p.name == "torch"), str(plan.build.torch))
    cards = dict.fromkeys(f"{fit.gpu}: {fit.verdict} {fit.code}".rstrip() for fit in plan.fits)
    return "; ".join([f"torch {torch}", *cards])


def _differences(held: Sequence[tuple[str, Lock]]) -> Iterator[Finding]:
    """Where a target's locks, each in its format, do not pin the same."""
    if len(held) < 2:
        return
    first, pins = held[0][0], _pins(held[0][1])
    for path, lock in held[1:]:
        others = _pins(lock)
        apart = [name for name in sorted({*pins, *others}) if pins.get(name) != others.get(name)]
        if apart:
            name = apart[0]
            text = f"{name} {others.get(name, 'absent')}, and {first} has {pins.get(name, 'none')}"
            more = f" ({len(apart)} packages differ)" if len(apart) > 1 else ""
            yield Finding(code="locks-differ", text=text + more, file=path, hint="envsolve lock -o for both at once")


def _pins(lock: Lock) -> dict[str, str]:
    return {package.name: package.version.public for package in lock.packages}
