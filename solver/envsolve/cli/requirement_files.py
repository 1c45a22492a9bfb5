"""Input files from disk: requirements (-r), constraints (-c), pyproject.toml, a conda environment.yml."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from envsolve.errors import InputError
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.lock.wishes import Wishes

_PYPROJECT = regex(r"(.*[._-])?pyproject.*\.toml", re.IGNORECASE)


def read_wishes(
    files: Iterable[Path],
    *,
    constraints: Iterable[Path] = (),
    extras: Collection[str] = (),
    groups: Collection[str] = (),
) -> Wishes:
    """What the files and those they name ask for; extras and groups are those of the pyproject.toml among them.

    Raises InputError with file and place.
    """
    from envsolve.lock.wishes import Wishes

    files = list(files)
    projects = [file for file in files if _PYPROJECT.fullmatch(file.name)]
    if extras or groups:
        _check_offered(projects, extras, groups)
    wishes = Wishes()
    for file in files:
        wishes += _project(file, extras, groups) if file in projects else _others(file)
    for file in constraints:
        wishes += _requirements(file, constrains=True)
    return wishes


def _project(file: Path, extras: Collection[str], groups: Collection[str]) -> Wishes:
    from envsolve.lock import pyproject_in

    return pyproject_in.parse(_text(file), origin=str(file), extras=extras, groups=groups)


def _others(file: Path) -> Wishes:
    if file.suffix in (".yml", ".yaml"):
        return _environment(file)
    if file.suffix == ".toml":
        raise InputError(
            f"{file} is not a pyproject.toml", hint="-r takes requirements, pyproject.toml, environment.yml"
        )
    return _requirements(file)


def _environment(file: Path) -> Wishes:
    from envsolve.lock import environment_in, requirements_in

    text = _text(file)
    wishes = environment_in.parse(text, origin=str(file))
    lines = environment_in.pip_text(text, origin=str(file))
    return wishes + requirements_in.parse(lines, origin=file, read=_text, variables=os.environ)


def _requirements(file: Path, *, constrains: bool = False) -> Wishes:
    from envsolve.lock import requirements_in

    return requirements_in.parse(_text(file), origin=file, read=_text, variables=os.environ, constrains=constrains)


def _check_offered(projects: list[Path], extras: Collection[str], groups: Collection[str]) -> None:
    """Each extra and each group must be that of one of the projects at least."""
    from packaging.utils import canonicalize_name

    from envsolve.lock.pyproject_in import offered

    if not projects:
        option = "--extra" if extras else "--group"
        raise InputError(f"{option} goes with a pyproject.toml", hint="-r pyproject.toml")
    found = [offered(_text(project)) for project in projects]
    where = ", ".join(map(str, projects))
    for what, names, known in (
        ("extra", extras, frozenset[str]().union(*(e for e, _ in found))),
        ("dependency group", groups, frozenset[str]().union(*(g for _, g in found))),
    ):
        for name in names:
            if canonicalize_name(name) not in known:
                there = ", ".join(sorted(known)) or "none"
                raise InputError(f"{where} has no {what} {name!r}", hint=f"it has: {there}")


def _text(path: PurePath) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        hint = "-r requirements.in, pyproject.toml or environment.yml" if Path(path).is_dir() else ""
        raise InputError(f"can't read {path}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error
