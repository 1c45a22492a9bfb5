"""Place: which environment is meant, and its interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from envsolve.errors import InputError

_HINT = "envsolve doctor --path DIR, --name NAME or --python EXE; --report FILE reads a pasted text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An environment: the name for people, its interpreter, and how it was chosen ("VIRTUAL_ENV", "--path")."""

    shown: str
    interpreter: Path
    chosen_by: str


def find_place(
    *, name: str | None, path: Path | None, python: Path | None, environ: Mapping[str, str], here: Path
) -> Place:
    """The environment of the options, else the active one, else the project's. Raises InputError."""
    given = [
        option for option, value in (("--name", name), ("--path", path), ("--python", python)) if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"give one of {', '.join(given)}", hint=_HINT)
    if python is not None:
        return _interpreter(python)
    if name is not None:
        return _named(name)
    if path is not None:
        return _folder(path, "--path")
    return _active(environ, here)


def _interpreter(python: Path) -> Place:
    if not python.is_file():
        raise InputError(f"there is no interpreter {python}", hint=_HINT)
    return Place(shown=str(python), interpreter=python.absolute(), chosen_by="--python")


def _named(name: str) -> Place:
    from envsolve.environment.home import data_home
    from envsolve.environment.listing import find
    from envsolve.environment.store import Store

    found = find(Store(data_home()).slot(name))
    return Place(shown=name, interpreter=found.interpreter, chosen_by="--name")


def _folder(folder: Path, chosen_by: str) -> Place:
    folder = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - resolve() would follow a project's link
    found = next((file for file in _interpreters(folder) if file.is_file()), None)
    if found is None:
        raise InputError(f"there is no Python environment at {folder}", hint=_HINT)
    return Place(shown=str(folder), interpreter=found, chosen_by=chosen_by)


def _active(environ: Mapping[str, str], here: Path) -> Place:
    """The active environment, the project's .venv, conda's: in this order, as a shell resolves `python`."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(variable):
            return _folder(Path(environ[variable]), variable)
    for folder in (here / ".venv", here / "venv"):
        if folder.is_dir():
            return _folder(folder, folder.name)
    raise InputError("no environment was named, none is active, and there is no .venv here", hint=_HINT)


def _interpreters(folder: Path) -> Iterator[Path]:
    """Where an environment keeps its Python: venv and conda, POSIX and Windows."""
    yield folder / "bin" / "python"
    yield folder / "Scripts" / "python.exe"
    yield folder / "python.exe"
