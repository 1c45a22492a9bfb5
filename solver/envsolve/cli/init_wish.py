"""InitWish: what the command line of `envsolve init` asks for, its paths relative to the project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from envsolve.errors import InputError
from envsolve.record import field, record, replace


@record
class InitWish:
    """`readme` None: only where there is one. `sources` are the options on indexes, for the commands in the locks."""

    requirements: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    constraints: tuple[Path, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    python: str | None = None
    gpus: str = "all"
    variants: tuple[str, ...] = ()
    sdists: bool = False
    outputs: tuple[str, ...] = ()
    ci: Literal["auto", "github", "none"] = "auto"
    readme: bool | None = None
    force: bool = False
    sources: Mapping[str, str | Sequence[str] | None] = field(default_factory=dict)

    def seen_from(self, project: Path) -> InitWish:
        """With its files as the project sees them. Raises InputError for one that lies outside."""
        if self.gpus == "visible":
            raise InputError("--gpus visible is of this shell, not of the project", hint="--gpus 0,1")
        return replace(
            self,
            files=tuple(Path(_inside(path, project, "-r")) for path in self.files),
            constraints=tuple(Path(_inside(path, project, "-c")) for path in self.constraints),
            outputs=tuple(_output(name, project) for name in self.outputs),
            targets=tuple(_target(text, project) for text in self.targets),
        )


def _inside(path: Path, project: Path, option: str) -> str:
    seen = Path(os.path.relpath(path, project)).as_posix()
    if seen.startswith("../") or seen == "..":
        raise InputError(f"{option} {path} lies outside the project {project}", hint="--project DIR")
    return seen


def _output(name: str, project: Path) -> str:
    seen = _inside(Path(name), project, "-o")
    return f"{seen}/" if name.endswith(("/", os.sep)) or Path(name).is_dir() else seen


def _target(text: str, project: Path) -> str:
    return Path(os.path.relpath(text, project)).as_posix() if "\n" not in text and Path(text).is_file() else text
