"""From the options of install to a lock: learn the machine, plan, solve against the index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import asked
from envsolve.cli.command_line import lock_command

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
        """The `envsolve lock` line that makes the same lock again."""
        return lock_command(
            self.requirements,
            {
                "-r": self.files,
                "--target": self.target,
                "--python": self.python,
                "--gpus": None if self.gpus == "all" else self.gpus,
                "--variant": self.variant,
                "--source": None if settings.source == "pytorch" else settings.source,
            },
        )

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
        request = asked.seen(request, machine)
        # Source archives are never taken; but only with them is seen that a package has releases, and for whom.
        with open_index(settings, python=machine.python or "", platform=machine.platform, sdists=True) as index:
            return lock_plan(machine, request, load(), index, command=self.command(settings))
