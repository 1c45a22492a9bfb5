"""The inputs of a project: what it has already, what is to be added, and to which file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.cli.init_wish import InitWish
from envsolve.errors import InputError
from envsolve.record import record

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from envsolve.keeping.declared import Declared

NEW = "requirements.in"
_MADE = "made by envsolve"
_BY_HAND = (NEW, "requirements.txt", "environment.yml", "environment.yaml")


@record
class Inputs:
    """`files` of the project, as they will be; `more` are the requirements that one of them is still to get, and `text`
    is what it will hold then (None: nothing changes). `made`: that file is new."""

    files: tuple[str, ...]
    more: tuple[str, ...] = ()
    file: str = ""
    text: str | None = None
    made: bool = False

    @property
    def on_disk(self) -> tuple[str, ...]:
        """The files that are there already."""
        return tuple(name for name in self.files if not (self.made and name == self.file))


def settled_inputs(wish: InitWish, base: Declared | None) -> Inputs:
    """The inputs: those that are named, else those declared before, else what lies in the folder. Raises InputError."""
    from envsolve.cli.requirement_files import read_wishes

    files = tuple(path.as_posix() for path in wish.files) or (base.requirements if base else _lying_here())
    if not files:
        return _new(wish)
    found = read_wishes(
        [Path(name) for name in files],
        constraints=wish.constraints or [Path(name) for name in (base.constraints if base else ())],
        extras=wish.extras or (base.extras if base else ()),
        groups=wish.groups or (base.groups if base else ()),
    )
    more = tuple(text for text in wish.requirements if _lacks(text, found.requirements, ", ".join(files)))
    if not more:
        return Inputs(files=files)
    return Inputs(files=files, more=more, file=files[0], text=_with(files[0], more))


def _new(wish: InitWish) -> Inputs:
    """The file that is to be made; says what else the project asks for, which nothing here reads."""
    if unread := _unread():
        talk.say(f"note: {unread} is not read: add what else the project needs to {NEW}, or name its files with -r")
    from envsolve.cli.asked import requirement
    from envsolve.resolve.request import TRIO

    more = wish.requirements or TRIO
    for text in more:
        requirement(text)
    return Inputs(files=(NEW,), more=more, file=NEW, text="".join(f"{text}\n" for text in more), made=True)


def _lying_here() -> tuple[str, ...]:
    """pyproject.toml where it lists dependencies, else a requirements file or an environment.yml that people wrote."""
    if _is_project(Path("pyproject.toml")):
        return ("pyproject.toml",)
    found = (name for name in _BY_HAND if Path(name).is_file() and _MADE not in read_text(Path(name)))
    return tuple(found)[:1]


def _unread() -> str:
    """A file that tells what the project needs in a form that is not read; "" where there is none."""
    pyproject = Path("pyproject.toml")
    words = {
        pyproject: ("[tool.poetry.dependencies]", "dynamic"),
        Path("setup.py"): ("install_requires",),
        Path("setup.cfg"): ("install_requires",),
        Path("Pipfile"): ("[packages]",),
        Path("pixi.toml"): ("dependencies]",),
    }
    for path, signs in words.items():
        if path.is_file() and any(sign in read_text(path) for sign in signs):
            return path.name
    folder = Path("requirements")
    return f"{folder}/" if folder.is_dir() and any(folder.glob("*.[ti][xn]*")) else ""


def _is_project(path: Path) -> bool:
    import tomllib

    if not path.is_file():
        return False
    try:
        project = tomllib.loads(read_text(path)).get("project")
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from error
    return isinstance(project, dict) and "dependencies" not in project.get("dynamic", ())


def _lacks(text: str, there: Sequence[Requirement], files: str) -> bool:
    """Whether no file asks for it. Raises InputError where one asks for another version."""
    from packaging.utils import canonicalize_name

    from envsolve.cli.asked import requirement

    wanted = requirement(text)
    same = [found for found in there if canonicalize_name(found.name) == canonicalize_name(wanted.name)]
    if same and (wanted.specifier or wanted.extras or wanted.url) and str(wanted) not in map(str, same):
        raise InputError(f"{files} asks for {same[0]}, and you for {wanted}", hint="change it there, then run it again")
    return not same


def _with(name: str, more: Sequence[str]) -> str:
    text = read_text(Path(name))
    if name.endswith(".toml"):
        from envsolve.keeping.pyproject_edit import with_dependencies

        return with_dependencies(text, more, origin=name)
    if not name.endswith((".in", ".txt")):
        raise InputError(f"nothing is added to {name}", hint=f"add to it yourself: {', '.join(more)}")
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else newline
    return text + gap + "".join(f"{line}{newline}" for line in more)


def read_text(path: Path) -> str:
    """A file's text with its own line ends. Raises InputError."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error
