"""From the options of install to a lock: learn the machine, plan, solve against the index."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import asked

if TYPE_CHECKING:
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line asks for, as it was typed."""

    requirements: list[str]
    files: list[Path]
    target: str | None
    python: str | None
    gpus: str
    variant: str | None

    @property
    def anything(self) -> bool:
        return bool(self.requirements or self.files or self.target or self.variant or self.gpus != "all")

    def command(self, settings: Settings) -> str:
        """The `envsolve lock` line that makes the same lock again, without credentials or folders of this machine."""
        options = [("--target", self.target), ("--python", self.python), ("--variant", self.variant)]
        words = [word for flag, value in options if value for word in (flag, value)]
        words += [word for file in self.files for word in ("-r", str(file))]
        words += ["--gpus", self.gpus] if self.gpus != "all" else []
        words += ["--source", settings.source] if settings.source != "pytorch" else []
        return shlex.join(["envsolve", "lock", *self.requirements, *words])

    def machine(self) -> Machine:
        return asked.machine(self.target, self.python)

    def locked(self, machine: Machine, settings: Settings) -> Locked | NoPlan | NeedsInput:
        """The lock, or why there is none. Raises InputError, RefusedError and OutsideError as lock_plan does."""
        from envsolve.index.package_index import open_index
        from envsolve.lock.lock_plan import lock_plan
        from envsolve.rulebook.load import load

        request = asked.request(
            self.requirements,
            self.files,
            target=self.target,
            gpus=self.gpus,
            variant=self.variant,
            source=settings.source,
            mirror=settings.mirror,
        )
        index = open_index(settings, python=machine.python or "", platform=machine.platform)
        return lock_plan(machine, request, load(), index, command=self.command(settings))
