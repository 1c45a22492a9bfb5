"""The public API, for programs that embed envsolve: detect, plan, lock, install, verify.

    import envsolve

    machine = envsolve.detect()
    answer = envsolve.plan("torch", "torchvision", machine=machine)
    if isinstance(answer, envsolve.Plan):
        locked = envsolve.lock("torch", "torchvision", machine=machine)
        environment = envsolve.install(locked.lock, path=Path("app-env"))

Nothing is printed. Errors are EnvsolveError: InputError (what was given makes no sense), OutsideError (network, disk or
a tool failed) and RefusedError (the answer is no).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement

from envsolve.environment.environment import Environment
from envsolve.environment.install import install as build
from envsolve.environment.proof import Proof
from envsolve.errors import EnvsolveError, InputError, OutsideError, RefusedError
from envsolve.lock.lock import Lock
from envsolve.lock.lock_plan import Locked, lock_plan
from envsolve.machine.machine import Gpu, Machine
from envsolve.record import replace
from envsolve.resolve.plan import Answer, NeedsInput, NoPlan, Plan
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.request import TRIO, Request
from envsolve.rulebook.load import load
from envsolve.settings import Settings, load_settings
from envsolve.verify.report import Check, Report

__all__ = [
    "Answer",
    "Check",
    "Environment",
    "EnvsolveError",
    "Gpu",
    "InputError",
    "Lock",
    "Locked",
    "Machine",
    "NeedsInput",
    "NoPlan",
    "OutsideError",
    "Plan",
    "RefusedError",
    "Report",
    "Settings",
    "detect",
    "install",
    "load_settings",
    "lock",
    "plan",
    "verify",
]

Gpus = Literal["all", "best"] | tuple[int, ...]
Say = Callable[[str], None]


def detect(target: str | None = None) -> Machine:
    """This machine, or the one that `target` describes (a profile's path, a file of pasted output, a one-line spec).

    Raises InputError for a target that can't be read. What is not known is None.
    """
    if target is None:
        from envsolve.machine.detect import detect as detect_here

        return detect_here()
    from envsolve.judge.superchip import with_own_arch
    from envsolve.machine.target import read_target
    from envsolve.rulebook.load import load

    return with_own_arch(read_target(target), load())


def plan(
    *requirements: str,
    machine: Machine | None = None,
    python: str | None = None,
    gpus: Gpus = "all",
    variant: str | None = None,
    constraints: Iterable[str] = (),
    source: Literal["pytorch", "pypi"] = "pytorch",
) -> Answer:
    """The plan for some requirements (default: torch, torchvision, torchaudio), a reasoned no, or a question.

    Needs no network. `python` ("3.12") outranks the machine's; `constraints` ("numpy<2") bind versions of what is
    needed anyway. Raises InputError.
    """
    request = _request(requirements, gpus=gpus, variant=variant, constraints=constraints, source=source)
    return plan_for(_machine(machine, python), request, load())


def lock(
    *requirements: str,
    machine: Machine | None = None,
    python: str | None = None,
    gpus: Gpus = "all",
    variant: str | None = None,
    constraints: Iterable[str] = (),
    sdists: bool = False,
    keep: Lock | None = None,
    upgrade: Iterable[str] = (),
    settings: Settings | None = None,
) -> Locked | NoPlan | NeedsInput:
    """The pinned, hashed set for some requirements; the text comes from `envsolve.lock.requirements_txt.write`.

    `constraints` ("numpy<2") bind versions of what is needed anyway. `sdists` takes source archives of packages without
    a wheel: building one runs its code. The versions of `keep`, a former lock, stay where they still fit, but for the
    packages in `upgrade`. `settings` say where packages come from, offline or not; by default what the variables,
    envsolve's, pip's and uv's configuration say. Raises InputError, RefusedError (requirements that contradict each
    other) and OutsideError.
    """
    from packaging.utils import canonicalize_name

    from envsolve.index.package_index import open_index

    chosen = settings if settings is not None else load_settings()
    known = _machine(machine, python)
    bounds = tuple(constraints)
    request = _request(
        requirements, gpus=gpus, variant=variant, constraints=bounds, source=chosen.source, mirror=chosen.mirror,
        sdists=sdists,
    )  # fmt: skip
    command = _lock_command(requirements, python=python, gpus=gpus, variant=variant, sdists=sdists)
    renewed = frozenset(map(canonicalize_name, upgrade))
    # Source archives are listed anyway: only with them is seen that a package has releases, and for whom.
    opened = open_index(chosen, python=known.python or "", platform=known.platform, sdists=True, build=sdists)
    with opened as index:
        return lock_plan(known, request, load(), index, command=command, keep=keep, upgrade=renewed)


def _lock_command(
    requirements: tuple[str, ...], *, python: str | None, gpus: Gpus, variant: str | None, sdists: bool
) -> str:
    """The command line that says nearly the same, for the lock's header; constraints have no file to name."""
    from envsolve.cli.command_line import lock_command

    shown = gpus if isinstance(gpus, str) else ",".join(map(str, gpus))
    options = {"--python": python, "--gpus": None if shown == "all" else shown, "--variant": variant}
    return lock_command(requirements, {**options, "--sdists": sdists})


def install(
    locked: Lock,
    *,
    name: str | None = None,
    path: Path | None = None,
    settings: Settings | None = None,
    installer: Literal["auto", "uv", "pip", "pip-sync"] = "auto",
    replace: bool = False,
    verify: Literal["now", "later"] = "now",
    say: Say | None = None,
) -> Environment:
    """An isolated environment from a lock, by name or at a folder, proven unless `verify` is "later".

    All of it or nothing. `say` gets a line for each step. Raises InputError (the name is taken), OutsideError (network,
    disk, installer) and RefusedError (a wrong hash, or it doesn't prove itself: then it is kept aside as failed).
    """
    from envsolve.environment.fill import choose_installer
    from envsolve.environment.home import data_home
    from envsolve.environment.order import Order
    from envsolve.environment.pythons import find_python
    from envsolve.environment.store import Store, project_slot
    from envsolve.lock import requirements_txt

    if (name is None) == (path is None):
        raise InputError("give either a name or a path", hint='envsolve.install(lock, name="pytorch_new")')
    slot = project_slot(path) if path is not None else Store(data_home()).slot(name or "")
    order = Order(
        lock=locked,
        lock_text=requirements_txt.write(locked),
        installer=choose_installer(installer),
        settings=settings if settings is not None else load_settings(),
        replace=replace,
        verify=verify,
    )

    def prove(interpreter: Path) -> Proof:
        from envsolve.verify.as_proof import as_proof
        from envsolve.verify.promise import promise
        from envsolve.verify.run import verify as verify_all

        return as_proof(verify_all(interpreter, promise(locked, load()), environment=slot.shown_name))

    tell = say if say is not None else _silent
    return build(slot, find_python(locked.python), order, prove=prove, say=tell, detail=_silent)


def verify(
    *, name: str | None = None, path: Path | None = None, static: bool = False, timeout_s: float = 300
) -> Report:
    """Prove an environment, in child processes with a time limit each (seconds); without a name or path the active one.

    `static` leaves out what needs a GPU. A crash inside is a failed check, never an exception. Raises InputError where
    there is no environment.
    """
    from envsolve.verify.run import verify as verify_all
    from envsolve.verify.subject import find

    subject = find(name=name, path=path)
    return verify_all(
        subject.interpreter, subject.expected, timeout_s=timeout_s, static=static, environment=subject.shown
    )


def _request(
    requirements: Iterable[str],
    *,
    gpus: Gpus,
    variant: str | None,
    constraints: Iterable[str],
    source: Literal["pytorch", "pypi"],
    mirror: str = "",
    sdists: bool = False,
) -> Request:
    from envsolve.lock.wishes import Wishes

    wanted = tuple(map(_requirement, tuple(requirements) or TRIO))
    bounds = Wishes(constraints=tuple(map(_requirement, constraints)))
    return Request(
        requirements=(*wanted, *bounds.family_constraints({r.name for r in wanted})),
        constraints=bounds.constraints,
        gpus=gpus,
        variant=variant,
        source=source,
        mirror=mirror,
        sdists=sdists,
    )


def _requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise InputError(f"{text!r} is not a requirement: {str(error).splitlines()[0]}") from error


def _machine(machine: Machine | None, python: str | None) -> Machine:
    known = machine if machine is not None else detect()
    return replace(known, python=python) if python is not None else known


def _silent(line: str) -> None:
    """Nobody asked to be told."""
