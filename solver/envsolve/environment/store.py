"""Store: a folder of builds, and the names that lead to them.

    envs/<name>            the name (a link; names/<name>.json on Windows)
    builds/<name>-<random> an environment at the path where it stays; its marker says how far it got
    locks/                 one lock per name, per build and per link in filling/
    filling/<number>       a link to a build that uv fills at this moment

A build counts only once its name leads to it: whatever kills a run before that leaves the old environment in place,
and a build without a name whose lock is free is removed by the next run.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from envsolve.environment.hold import alone, holding, try_hold
from envsolve.environment.marker import read_marker
from envsolve.environment.pointer import Junction, Link, Pointer, Record
from envsolve.environment.stand_in import stand_in
from envsolve.environment.tree import make_folder, remove_tree
from envsolve.environment.users import users
from envsolve.errors import InputError, OutsideError, RefusedError
from envsolve.record import record
from envsolve.regex import regex

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
# Device names that Windows resolves in every folder; refused everywhere, so that a name works on each system.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def check_name(name: str) -> str:
    """The name itself. Raises InputError for anything but letters, digits, '.', '_' and '-' (at most 64)."""
    if not _NAME.fullmatch(name) or name.endswith(".") or name.split(".")[0].lower() in _RESERVED:
        raise InputError(
            f"not a name for an environment: {name!r}",
            hint="use letters, digits, '.', '_' and '-', beginning with a letter or digit; --path DIR takes a folder",
        )
    return name


class Draft:
    """A build that is being made. `held` is the descriptor of its lock; set `kept` once it may stay."""

    def __init__(self, *, slot: Slot, path: Path, held: int) -> None:
        self.slot = slot
        self.path = path
        self.held = held
        self.kept = False


@record
class Slot:
    """One name in one store: where its builds, its locks and its pointer are. `named` False: a project's own folder."""

    root: Path
    name: str
    pointer: Pointer
    named: bool = True

    @property
    def shown_name(self) -> str:
        """The name, or the folder of a project-local one."""
        return self.name if self.named else str(self.pointer.shown())

    def check_ours(self) -> None:
        """Raises InputError when something that envsolve didn't make is where the name would be."""
        place = self.pointer.shown()
        ours = self.pointer.target()
        if not os.path.lexists(place) or (ours and ours.parent.resolve() == self.builds.resolve()):
            return
        raise InputError(
            f"{place} exists and envsolve didn't make it", hint="choose another --name or --path, or move it away"
        )

    @property
    def builds(self) -> Path:
        return self.root / "builds"

    def current(self) -> Path | None:
        """The build that the name leads to, when it is one of envsolve's and is still there."""
        build = self.pointer.target()
        return build if build and read_marker(build) else None

    @property
    def taken(self) -> bool:
        """Whether the name leads to a build, be its marker readable or not."""
        build = self.pointer.target()
        return build is not None and build.is_dir()

    def own_builds(self) -> tuple[Path, ...]:
        """Every build that was made for this name, finished or not, oldest first."""
        pattern = re.compile(re.escape(self.name) + r"-[0-9a-f]{8}(\.removed-[0-9a-f]{8})?")
        try:
            found = [path for path in self.builds.iterdir() if pattern.fullmatch(path.name)]
        except FileNotFoundError:
            return ()
        return tuple(sorted(found, key=_changed))

    def failed(self) -> tuple[Path, ...]:
        """The builds of this name that were kept aside because verification failed; not the one it leads to."""
        current = self.pointer.target()
        aside = [path for path in self.own_builds() if not current or path.resolve() != current.resolve()]
        return tuple(path for path in aside if (m := read_marker(path)) and m.stage == "failed")

    def lock_of(self, build: Path) -> Path:
        return self.root / "locks" / f"build-{build.name}.lock"

    @contextmanager
    def alone(self, waiting: Callable[[str], None]) -> Iterator[None]:
        """Only one run changes a name at a time; a second one says so and waits."""
        path = self.root / "locks" / f"name-{self.name}.lock"
        make_folder(path.parent)
        said = f"another envsolve is working on {self.name!r}; waiting for it to finish (Ctrl-C to stop)"
        with alone(path, lambda: waiting(said)):
            yield

    @contextmanager
    def new_build(self) -> Iterator[Draft]:
        """A draft at a fresh path, held by us alone; removed when the block ends, unless it was kept."""
        build = self.builds / f"{self.name}-{os.urandom(4).hex()}"
        make_folder(self.builds)
        if not self.named:
            (self.root / ".gitignore").write_text("*\n", encoding="utf-8")
        try:
            with holding(self.lock_of(build)) as held:
                if held is None:  # a random name that is in use: can't happen, and mustn't be ignored
                    raise OutsideError(f"the build folder {build} is in use")
                draft = Draft(slot=self, path=build, held=held)
                try:
                    yield draft
                finally:
                    if not draft.kept:
                        remove_tree(build)
        finally:
            if not build.exists():
                self.lock_of(build).unlink(missing_ok=True)

    def stand_in(self, build: Path) -> AbstractContextManager[tuple[Path, tuple[int, ...]]]:
        """A path to a build that is the same for each build, as stand_in.py gives it."""
        return stand_in(build, self.root / "filling", self.root / "locks")

    def sweep(self, *, keep: Iterable[Path] = ()) -> tuple[Path, ...]:
        """Remove the builds of this name that nothing leads to and nobody uses; gives what was removed."""
        kept = {path.resolve() for path in (self.pointer.target(), *keep) if path}
        return tuple(path for path in self.own_builds() if path.resolve() not in kept and self._remove_if_free(path))

    def _remove_if_free(self, build: Path) -> bool:
        with holding(self.lock_of(build)) as held:
            if held is None or users(build) or not remove_tree(build):
                return False
        self.lock_of(build).unlink(missing_ok=True)
        return True

    def remove(self) -> tuple[Path, ...]:
        """Remove the name and its builds. Raises InputError (no such name), RefusedError (somebody runs in it)."""
        current, builds = self.pointer.target(), self.own_builds()
        if current is None and not builds:
            raise InputError(f"there is no environment {self.shown_name!r}", hint="envsolve envs list")
        if current:
            self._forget(current)
        self.sweep()
        return builds

    def _forget(self, build: Path) -> None:
        """Drop the name unless the build is in use."""
        with holding(self.lock_of(build)) as held:
            using = users(build)
            if held is None or using:
                who = f"processes {', '.join(map(str, using))}" if using else "a program of `envsolve envs run`"
                raise RefusedError(
                    f"the environment {self.shown_name!r} is in use by {who}",
                    hint=f"end it, then: envsolve envs remove {self.name}",
                )
            self.pointer.drop()


class Store:
    """The named environments below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def slot(self, name: str) -> Slot:
        """The slot of a name. Raises InputError for a name that isn't one."""
        check_name(name)
        if sys.platform == "win32":
            return Slot(root=self.root, name=name, pointer=Record(path=self.root / "names" / f"{name}.json"))
        return Slot(root=self.root, name=name, pointer=Link(path=self.root / "envs" / name))

    def names(self) -> tuple[str, ...]:
        """Every name that leads to a build or has one that failed, in alphabetical order."""
        found = {path.stem for path in _entries(self.root / "names") if path.suffix == ".json"}
        found |= {path.name for path in _entries(self.root / "envs") if not path.name.startswith(".")}
        for build in _entries(self.root / "builds"):
            marker = read_marker(build)
            if marker and marker.stage == "failed":
                found.add(marker.name)
        return tuple(sorted(name for name in found if _NAME.fullmatch(name)))  # whatever else lies there is not ours


def project_slot(folder: Path) -> Slot:
    """The slot of a project-local environment at `folder`. Raises InputError for a folder that can't be one.

    The folder is a link to a build in `.envsolve/` beside it: an environment can't be moved once it is made, so only a
    link can go from the old one to the new one in one step, and leave the old one working when a run is killed.
    """
    folder = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - resolve() would follow the link itself
    if not folder.name:
        raise InputError(f"--path {folder} can't be an environment", hint="--path .venv")
    if not folder.parent.is_dir():
        raise InputError(
            f"there is no folder {folder.parent} to put the environment into",
            hint=f"mkdir -p {shlex.quote(str(folder.parent))}",
        )
    pointer: Pointer = Junction(path=folder) if sys.platform == "win32" else Link(path=folder)
    root = folder.parent / ".envsolve"
    return Slot(root=root, name=folder.name, pointer=pointer, named=False)


def hold_shared(slot: Slot, build: Path) -> int | None:
    """A hold for a program that runs in the build, beside others; None when it is about to be removed."""
    return try_hold(slot.lock_of(build), shared=True)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
