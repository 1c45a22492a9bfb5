"""Subject: which environment is to be proven, and what was promised of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from envsolve.errors import InputError
from envsolve.record import record
from envsolve.verify.as_proof import as_proof
from envsolve.verify.child import Ended
from envsolve.verify.expected import Expected
from envsolve.verify.report import Report
from envsolve.verify.run import survey_of
from envsolve.verify.unlocked import of_survey

_WHICH = "envsolve verify --name NAME, or --path DIR; envsolve envs list shows the names"
_REPLACE = "make it anew: envsolve install --replace"


@record
class Subject:
    """An environment: the name that reports show, its interpreter, what is expected of it.

    `build` is the folder whose marker remembers the report; None for an environment that envsolve didn't make.
    """

    shown: str
    interpreter: Path
    expected: Expected
    build: Path | None

    def remember(self, report: Report) -> None:
        """Keep the report with the environment, when envsolve made it. Raises OSError."""
        from envsolve.environment.marker import read_marker, write_marker

        marker = read_marker(self.build) if self.build else None
        if self.build and marker and not report.static:
            write_marker(self.build, marker.with_proof(as_proof(report)))


def find(*, name: str | None, path: Path | None) -> Subject:
    """The named environment, the one in a folder, or the active one. Raises InputError when there is none."""
    if name is not None and path is not None:
        raise InputError("give either --name NAME or --path DIR", hint=_WHICH)
    if name is not None:
        return _named(name)
    active = os.environ.get("VIRTUAL_ENV", "")
    if path is None and not active:
        raise InputError("no environment was named, and none is active", hint=_WHICH)
    return _in_folder(path or Path(active))


def _named(name: str) -> Subject:
    from envsolve.environment.home import data_home
    from envsolve.environment.listing import find as find_environment
    from envsolve.environment.store import Store

    found = find_environment(Store(data_home()).slot(name))
    return _made_here(name, found.path, found.interpreter)


def _in_folder(folder: Path) -> Subject:
    from envsolve.environment.marker import read_marker

    folder = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - resolve() would follow a project's link
    interpreter = next((file for file in _interpreters(folder) if file.is_file()), None)
    if interpreter is None:
        raise InputError(f"there is no Python environment at {folder}", hint=_WHICH)
    if read_marker(folder):
        return _made_here(str(folder), folder.resolve(), interpreter)
    found = survey_of(interpreter)
    # An interpreter that doesn't answer is for verify() to report.
    expected = Expected(versions={}, device="cpu") if isinstance(found, Ended) else of_survey(found, where=str(folder))
    return Subject(shown=str(folder), interpreter=interpreter, expected=expected, build=None)


def _interpreters(folder: Path) -> Iterator[Path]:
    """Where an environment keeps its Python: venv and conda, POSIX and Windows."""
    yield folder / "bin" / "python"
    yield folder / "Scripts" / "python.exe"
    yield folder / "python.exe"


def _made_here(shown: str, build: Path, interpreter: Path) -> Subject:
    from envsolve.environment.marker import LOCK_COPY
    from envsolve.lock.requirements_txt import read
    from envsolve.rulebook.load import load
    from envsolve.verify.promise import promise

    file = build / LOCK_COPY
    try:
        lock = read(file.read_text(encoding="utf-8"), what=str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the environment's lock {file}: {error}", hint=_REPLACE) from error
    return Subject(shown=shown, interpreter=interpreter, expected=promise(lock, load()), build=build)
