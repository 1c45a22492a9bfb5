"""Asked: what a command line asks for, and the way from there to a plan or a lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.cli.command_line import lock_command
from envsolve.record import field, record, replace

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from envsolve.cli.asked import ForMachine, Wanted
    from envsolve.lock.lock_plan import Locked
    from envsolve.lock.wishes import Wishes
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import NeedsInput, NoPlan
    from envsolve.resolve.request import Request
    from envsolve.settings import Settings

_FLAGS = ("-r", "-c", "--extra", "--group", "--target", "--python", "--gpus", "--variant")


@record
class Asked:
    """What the command line asks for, as it was typed."""

    requirements: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    constraints: list[Path] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    target: str | None = None
    python: str | None = None
    gpus: str = "all"
    variant: str | None = None
    sdists: bool = False

    @classmethod
    def said(cls, wanted: Wanted, machine: ForMachine, *, sdists: bool = False) -> Asked:
        """What these options of a command say."""
        return cls(
            requirements=wanted.requirements or [],
            files=wanted.files or [],
            constraints=wanted.constraints or [],
            extras=wanted.extra or [],
            groups=wanted.group or [],
            target=machine.target,
            python=machine.python,
            gpus=machine.gpus,
            variant=machine.variant,
            sdists=sdists,
        )

    @property
    def anything(self) -> bool:
        """Whether something beside the Python was said."""
        return replace(self, python=None) != Asked()

    @property
    def names_nothing(self) -> bool:
        """Whether it is left open what is wanted; for which machine may be said."""
        return not (self.requirements or self.files or self.constraints or self.extras or self.groups)

    def command(self, sources: Mapping[str, object] | None = None, *, targets: list[str] | None = None) -> str:
        """The `envsolve lock` line that makes the same lock again; `sources` are the options on indexes."""
        return lock_command(
            self.requirements,
            {
                "-r": self.files,
                "-c": self.constraints,
                "--extra": self.extras,
                "--group": self.groups,
                "--target": targets or self.target,
                "--python": self.python,
                "--gpus": None if self.gpus == "all" else self.gpus,
                "--variant": self.variant,
                "--sdists": self.sdists,
                **(sources or {}),
            },
        )

    def words(self) -> tuple[str, ...]:
        """The words of the command line that say this again, from whatever folder on this machine."""
        options = {
            "-r": [str(file.absolute()) for file in self.files],
            "-c": [str(file.absolute()) for file in self.constraints],
            "--extra": self.extras,
            "--group": self.groups,
            "--target": [_absolute(self.target)] if self.target else [],
            "--python": [self.python] if self.python else [],
            "--gpus": [] if self.gpus == "all" else [self.gpus],
            "--variant": [self.variant] if self.variant else [],
        }
        said = [word for flag, values in options.items() for value in values for word in (flag, value)]
        return (*self.requirements, *said, *(["--sdists"] if self.sdists else []))

    @classmethod
    def from_words(cls, words: tuple[str, ...]) -> Asked:
        """What `words` gave, as it was."""
        found: dict[str, list[str]] = {}
        rest = list(words)
        plain: list[str] = []
        while rest:
            word = rest.pop(0)
            if word in ("--sdists", *_FLAGS):
                found.setdefault(word, []).append("" if word == "--sdists" else rest.pop(0))
            else:
                plain.append(word)
        last = {flag: values[-1] for flag, values in found.items()}
        return cls(
            requirements=plain,
            files=[Path(file) for file in found.get("-r", [])],
            constraints=[Path(file) for file in found.get("-c", [])],
            extras=found.get("--extra", []),
            groups=found.get("--group", []),
            target=last.get("--target"),
            python=last.get("--python"),
            gpus=last.get("--gpus", "all"),
            variant=last.get("--variant"),
            sdists="--sdists" in found,
        )

    def with_requirements(self, more: list[str]) -> Asked:
        """With further requirements; each stands in for those of the same name."""
        from envsolve.cli import asked

        new = {asked.requirement(text).name.lower() for text in more}
        kept = [text for text in self.requirements if asked.requirement(text).name.lower() not in new]
        return replace(self, requirements=[*(kept or _trio(new, self)), *more] if more else self.requirements)

    def wishes(self) -> Wishes:
        """What the files ask for; says which entries have no counterpart for pip. Raises InputError."""
        from envsolve.cli.requirement_files import read_wishes

        found = read_wishes(self.files, constraints=self.constraints, extras=self.extras, groups=self.groups)
        if self.files and not found.requirements and not self.requirements:
            names = ", ".join(map(str, self.files))
            talk.say(f"note: {names} asks for nothing: torch, torchvision and torchaudio are taken")
        if found.left_out:
            talk.say(f"note: left out, since pip has none of them: {', '.join(found.left_out)}")
        return found

    def _machine(self, wishes: Wishes) -> Machine:
        from envsolve.cli import asked
        from envsolve.cli.asked_python import settled_python

        known = asked.machine(self.target, self.python)
        stated = self.python is not None or (self.target is not None and "python" not in known.assumed)
        return settled_python(known, wishes.pythons, stated=stated)

    def settled(
        self, *, source: str | None, mirror: str | None, pythons: Sequence[tuple[str, SpecifierSet]] = ()
    ) -> tuple[Machine, Request]:
        """The machine and the request; `pythons` is what another file asks of Python. Raises InputError."""
        from envsolve.cli import asked

        wishes = self.wishes()
        wishes = replace(wishes, pythons=(*wishes.pythons, *pythons))
        machine = self._machine(wishes)
        request = asked.request(
            self.requirements,
            wishes,
            target=self.target,
            gpus=self.gpus,
            variant=self.variant,
            source=source,
            mirror=mirror,
        )
        return machine, asked.seen(replace(request, sdists=self.sdists), machine)

    def locked(self, machine: Machine, request: Request, settings: Settings) -> Locked | NoPlan | NeedsInput:
        """The lock, or why there is none. Raises InputError, RefusedError and OutsideError as lock_plan does."""
        from envsolve.index.package_index import open_index
        from envsolve.lock.lock_plan import lock_plan
        from envsolve.rulebook.load import load

        command = self.command({"--source": None if settings.source == "pytorch" else settings.source})
        # Source archives are seldom taken; but only with them is seen that a package has releases, and for whom.
        with open_index(
            settings, python=machine.python or "", platform=machine.platform, sdists=True, build=request.sdists
        ) as index:
            found = lock_plan(machine, request, load(), index, command=command)
        for warning in index.warnings:
            talk.say(f"note: {warning}")
        return found


def _trio(new: set[str], before: Asked) -> list[str]:
    """What was wanted where nothing was named."""
    from envsolve.resolve.request import TRIO

    return [] if before.requirements or before.files else [name for name in TRIO if name not in new]


def _absolute(target: str) -> str:
    """A target's file by its whole path; a one-line description as it is."""
    return str(Path(target).absolute()) if Path(target).is_file() else target
