"""The .envsolve.toml of a project: found, read, and turned into what the other rooms take."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.record import replace

if TYPE_CHECKING:
    from envsolve.keeping.declared import Declared, DeclaredTarget
    from envsolve.settings import Settings


def find_project(start: Path | None) -> Path:
    """The folder with a .envsolve.toml: `start` itself where it is given, else this one or one above it.

    Raises InputError where there is none.
    """
    from envsolve.keeping.declared import FILE

    here = Path.cwd() if start is None else start
    if start is not None and not start.is_dir():
        raise InputError(f"{start} is no folder", hint="--project DIR")
    for folder in (here, *here.parents) if start is None else (here,):
        if (folder / FILE).is_file():
            return folder
    above = "" if start is not None else ", nor in a folder above it"
    raise InputError(f"there is no {FILE} in {here}{above}", hint="envsolve init makes one")


def read_declaration(project: Path) -> Declared:
    """What the project declares. Raises InputError."""
    from envsolve.keeping.declared import FILE
    from envsolve.keeping.declared_read import parse_declared

    try:
        text = (project / FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {project / FILE}: {error}") from error
    return parse_declared(text)


@contextlib.contextmanager
def within(project: Path) -> Iterator[None]:
    """The project as the current folder: what it declares is relative to it, and so are the commands in its locks."""
    with contextlib.chdir(project):
        yield


def anchored(settings: Settings) -> Settings:
    """The settings with their own folders by absolute paths, so that they hold from inside the project."""
    links = tuple(map(anchored_place, settings.find_links))
    return replace(settings, find_links=links, cache_dir=settings.cache_dir.absolute())


def anchored_place(place: str) -> str:
    """A folder of wheels by its absolute path; an address as it is."""
    return place if "://" in place else str(Path(place).absolute())


def asked_for(declared: Declared, target: DeclaredTarget) -> Asked:
    """What `envsolve lock` would be asked for a target."""
    variants = declared.variants_of(target)
    return Asked(
        files=[Path(name) for name in declared.requirements],
        constraints=[Path(name) for name in declared.constraints],
        extras=list(declared.extras),
        groups=list(declared.groups),
        target=target.machine,
        gpus=target.gpus,
        variant=variants[0] if len(variants) == 1 else None,
        sdists=declared.sdists,
    )
