"""Pointer: the name of an environment, which leads to a build and is swapped in one step.

A venv can't be moved (its scripts hold absolute paths), so it is built at its final, unique path and only the name
moves.
On POSIX the name is a symbolic link. On Windows, where links need a privilege, a named environment has a small JSON
record, and a project's folder is a junction.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Protocol

from envsolve.record import record

if sys.platform == "win32":
    import _winapi


class Pointer(Protocol):
    """A name. `shown` is the path that people use; it stays the same when the name moves on to another build."""

    def target(self) -> Path | None:
        """The build that the name leads to; None when there is no such name."""
        ...

    def point_to(self, build: Path) -> None:
        """Make the name lead to `build`, in one step that can't be seen half done."""
        ...

    def drop(self) -> None:
        """Forget the name; nothing else is removed."""
        ...

    def shown(self) -> Path: ...


@record
class Link:
    """A name that is a symbolic link."""

    path: Path

    def target(self) -> Path | None:
        if not self.path.is_symlink():
            return None
        return Path(os.path.normpath(self.path.parent / self.path.readlink()))

    def point_to(self, build: Path) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{self.path.name}-{os.urandom(4).hex()}.tmp")
        # Relative, so that the folder that holds both can be mounted elsewhere.
        fresh.symlink_to(os.path.relpath(build, self.path.parent), target_is_directory=True)
        fresh.replace(self.path)

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)

    def shown(self) -> Path:
        return self.path


@record
class Record:
    """A name that is a JSON file holding the path of its build."""

    path: Path

    def target(self) -> Path | None:
        try:
            return Path(json.loads(self.path.read_text(encoding="utf-8"))["build"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def point_to(self, build: Path) -> None:
        write_atomically(self.path, json.dumps({"build": str(build)}))

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)

    def shown(self) -> Path:
        return self.target() or self.path


@record
class Junction:
    """A name that is a folder junction: Windows can't replace one in one step, so it is away for some microseconds."""

    path: Path

    def target(self) -> Path | None:
        try:
            return Path(str(self.path.readlink()).removeprefix("\\\\?\\"))
        except OSError:
            return None

    def point_to(self, build: Path) -> None:
        if sys.platform == "win32":
            fresh = self.path.with_name(f".{self.path.name}-{os.urandom(4).hex()}.tmp")
            _winapi.CreateJunction(str(build), str(fresh))
            self.drop()
            fresh.rename(self.path)

    def drop(self) -> None:
        if self.target() is not None:
            self.path.rmdir()  # removes the junction, not what it leads to

    def shown(self) -> Path:
        return self.path


def write_atomically(path: Path, text: str) -> None:
    """Write a whole text file or leave the old one; also through a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}-{os.urandom(4).hex()}.tmp")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
