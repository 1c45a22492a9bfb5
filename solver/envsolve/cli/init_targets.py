"""The declaration of a project that is being made, its targets said in full: CI reads the same as this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.cli.init_inputs import Inputs
from envsolve.cli.init_wish import InitWish
from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.keeping.declared import FILE, Declared, DeclaredTarget
from envsolve.record import replace
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.cli.lock_order import Job
    from envsolve.machine.machine import Machine
    from envsolve.settings import Settings

_MINOR = regex(r"(\d+\.\d+)(?:\.\d+)*(t?)")


def declaration(wish: InitWish, base: Declared | None, inputs: Inputs, settings: Settings) -> Declared:
    """What the project will declare: what is asked for now, and of what was declared before all else.

    Raises InputError for targets that can't be read and for locks that can't hold them.
    """
    before = base or Declared(requirements=(), targets=())
    plain = Declared(
        requirements=inputs.files,
        targets=(),
        constraints=tuple(path.as_posix() for path in wish.constraints) or before.constraints,
        extras=wish.extras or before.extras,
        groups=wish.groups or before.groups,
        locks=before.locks,
        variants=wish.variants or before.variants,
        sdists=wish.sdists or before.sdists,
    )
    if not wish.targets and before.targets:
        if wish.python is not None or wish.gpus != "all":
            option = "--python" if wish.python is not None else "--gpus"
            raise InputError(f"{option} goes with --target: the targets are declared in {FILE}", hint=f"edit {FILE}")
        targets = before.targets
    else:
        targets = tuple(_target(text, wish, plain, inputs, settings) for text in wish.targets or (None,))
    declared = replace(plain, targets=targets)
    if wish.outputs or wish.targets or not before.targets:
        return _with_locks(declared, wish.outputs or before.locks, inputs, settings)
    return declared


def pending(declared: Declared, target: DeclaredTarget, inputs: Inputs) -> Asked:
    """What is to be locked for a target while the inputs are not all on disk yet."""
    from envsolve.cli.declaration import asked_for

    files = [Path(name) for name in inputs.on_disk]
    return replace(asked_for(declared, target), requirements=list(inputs.more), files=files)


def _target(text: str | None, wish: InitWish, declared: Declared, inputs: Inputs, settings: Settings) -> DeclaredTarget:
    """A target in full. Raises InputError."""
    one = DeclaredTarget(machine=text or "", gpus=wish.gpus)
    asking = replace(pending(declared, one, inputs), target=text, python=wish.python)
    machine, _ = asking.settled(source=settings.source, mirror=settings.mirror)
    if text is None and not machine.gpus:
        talk.say("note: this machine has no GPU that is seen; --target names the one that the project is for")
    return replace(one, machine=_in_full(text, machine, wish.python))


def _in_full(text: str | None, machine: Machine, python: str | None) -> str:
    """A one-line spec with what it left open; a profile inside the project by its path, where it says all."""
    from envsolve.machine.spec import format_spec

    minor = _MINOR.sub(r"\1\2", machine.python or "")
    if text is None:
        return format_spec(replace(machine, python=minor))
    if "\n" in text or text == "-" or Path(text).is_file():
        open_ = python is not None or set(machine.assumed) & {"os", "arch", "python"}
        inside = Path(text).is_file() and not text.startswith("../") if "\n" not in text else False
        return text if inside and not open_ else format_spec(replace(machine, python=minor))
    said = re.sub(r",\s*python\s*=[^,]*", "", text) if python is not None else text
    missing = {"python": minor, "os": machine.os, "arch": machine.arch}
    return said + "".join(f",{key}={value}" for key, value in missing.items() if not re.search(rf"\b{key}\s*=", said))


def _with_locks(declared: Declared, names: Sequence[str], inputs: Inputs, settings: Settings) -> Declared:
    """The declaration with the files that will hold the locks: the same for all targets, or each its own."""
    from envsolve.cli.lock_order import Job, outputs_of

    jobs: list[Job] = []
    for target in declared.targets:
        asking = pending(declared, target, inputs)
        machine, request = asking.settled(source=settings.source, mirror=settings.mirror)
        jobs.append(Job(asked=asking, machine=machine, request=request))
    outputs = [output for output in outputs_of(list(names), jobs) if _reads(output.path)]
    own = [tuple(o.path.as_posix() for o in outputs if number in o.jobs) for number in range(len(jobs))]
    if not all(own):
        raise InputError("-o names no file that can be read back as a lock", hint="-o requirements.lock.txt")
    if len(set(own)) == 1:
        return replace(declared, locks=own[0], targets=tuple(replace(t, locks=()) for t in declared.targets))
    targets = tuple(replace(t, locks=files) for t, files in zip(declared.targets, own, strict=True))
    return replace(declared, locks=(), targets=targets)


def _reads(path: Path) -> bool:
    from envsolve.lock import formats

    return formats.format_of(path.name).reads
