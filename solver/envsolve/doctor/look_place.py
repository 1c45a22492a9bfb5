"""Place: which environment is meant, and its interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from envsolve.errors import InputError
from envsolve.record import record

_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
# Where a project keeps its environment: venv, uv, poetry and pdm; conda by --prefix; pixi.
_PROJECT = (".venv", "venv", ".conda", "env", "envs", ".pixi/envs/default")
# The tools that keep it elsewhere, by the file that shows them, and what they are asked.
_TOOLS = {"pipenv": "Pipfile", "poetry": "poetry.lock", "hatch": "hatch.toml"}
_ASKS = {"pipenv": "pipenv --venv", "poetry": "poetry env info --path", "hatch": "hatch env find"}
_HINT = "envsolve doctor --path DIR, --name NAME or --python EXE; --report FILE reads a pasted text"


@record
class Place:
    """An environment: the name for people, its interpreter, and how it was chosen ("VIRTUAL_ENV", "--path")."""

    shown: str
    interpreter: Path
    chosen_by: str

    @property
    def options(self) -> tuple[str, ...]:
        """The words of the command line that name it; none for what is found without them."""
        return (self.chosen_by, self.shown) if self.chosen_by.startswith("--") else ()

    @property
    def is_active(self) -> bool:
        """Whether a plain `python` in this shell is the environment's."""
        return self.chosen_by in _VARIABLES

    @property
    def root(self) -> Path:
        """The environment's folder."""
        folder = self.interpreter.parent
        return folder.parent if folder.name in ("bin", "Scripts") else folder

    @property
    def is_environment(self) -> bool:
        """Whether a venv or conda made the folder, be its Python there or not."""
        return _is_environment(self.root)


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


def _is_environment(folder: Path) -> bool:
    return is_file(folder / "pyvenv.cfg") or os.path.isdir(folder / "conda-meta")  # noqa: PTH112


def is_file(path: Path) -> bool:
    """Whether a file is there and can be seen; Path.is_file raises where a folder on the way is another user's."""
    return os.path.isfile(path)  # noqa: PTH113


def _check_readable(folder: Path) -> None:
    """Raises InputError for a folder, or one around it, that this user may not look into."""
    for place in (*reversed(folder.parents), folder):
        if os.path.isdir(place) and not os.access(place, os.X_OK):  # noqa: PTH112
            raise InputError(f"{place} may not be looked into by this user", hint="ask its owner for chmod a+rX")


def _interpreter(python: Path) -> Place:
    place = Place(shown=str(python), interpreter=python.expanduser().absolute(), chosen_by="--python")
    _check_readable(place.interpreter.parent)
    if place.interpreter.is_dir():
        raise InputError(f"{python} is a folder, not an interpreter", hint=f"envsolve doctor --path {python}")
    if not is_file(place.interpreter) and not (place.interpreter.is_symlink() and place.is_environment):
        raise InputError(f"there is no interpreter {python}", hint=_HINT)
    return place


def _named(name: str) -> Place:
    from envsolve.environment.home import data_home
    from envsolve.environment.listing import find
    from envsolve.environment.store import Store

    found = find(Store(data_home()).slot(name))
    return Place(shown=name, interpreter=found.interpreter, chosen_by="--name")


def _folder(folder: Path, chosen_by: str) -> Place:
    folder = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - resolve() would follow a project's link
    _check_readable(folder)
    found = next((file for file in _interpreters(folder) if is_file(file)), None)
    if found is None and _is_environment(folder):
        found = next(_interpreters(folder))  # its Python is gone; its packages tell what it was
    if found is None:
        said = f"{chosen_by} says {folder}: " if chosen_by in _VARIABLES else ""
        raise InputError(f"{said}there is no Python environment at {folder}", hint=_nearby(folder))
    return Place(shown=str(folder), interpreter=found, chosen_by=chosen_by)


def _nearby(folder: Path) -> str:
    """The right words where an interpreter was given for a folder, or a project for its environment."""
    if is_file(folder):
        return f"envsolve doctor --python {folder}" if folder.parent.name in ("bin", "Scripts") else _HINT
    inside = (folder / name for name in _PROJECT)
    near = next((f for f in (*inside, folder.parent) if _is_environment(f)), None)
    return f"envsolve doctor --path {near}" if near else _HINT


def _active(environ: Mapping[str, str], here: Path) -> Place:
    """The active environment, the project's .venv, conda's: in this order, as a shell resolves `python`."""
    for variable in _VARIABLES:
        if environ.get(variable):
            return _folder(Path(environ[variable]), variable)
    for folder in (here / name for name in _PROJECT):
        if folder.is_dir() and (folder.name in (".venv", "venv") or _is_environment(folder)):
            return _folder(folder, folder.name)
    message = "no environment was named, none is active, and there is no .venv here"
    raise InputError(message, hint=_of_tool(here) or _HINT)


def _of_tool(here: Path) -> str:
    """How the project's own tool tells where it keeps the environment; "" where it is not known to have one."""
    tool = next((name for name, file in _TOOLS.items() if (here / file).is_file()), "")
    return f'envsolve doctor --path "$({_ASKS[tool]})"' if tool else ""


def _interpreters(folder: Path) -> Iterator[Path]:
    """Where an environment keeps its Python: venv and conda, POSIX and Windows."""
    yield folder / "bin" / "python"
    yield folder / "Scripts" / "python.exe"
    yield folder / "python.exe"
