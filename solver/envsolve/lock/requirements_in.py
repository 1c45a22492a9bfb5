"""requirements.in: the requirements and constraints that people write, with nested files. Others read the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from envsolve.errors import InputError
from envsolve.resolve.request import TRIO

Read = Callable[[PurePath], str]  # may raise InputError: the file is not there

_COMMENT = re.compile(r"(^|\s)#.*$")
_OPTION = re.compile(r"(?P<option>-[rc]|--requirement|--constraint)(?:\s+|=|(?<=^-[rc]))(?P<file>\S.*)")
_PER_REQUIREMENT = re.compile(r"\s+--(hash|config-settings?|global-option)[=\s].*$")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_INDEX_OPTIONS = {
    "-i": "--index URL",
    "--index-url": "--index URL",
    "--extra-index-url": "--index URL",
    "-f": "--find-links PLACE",
    "--find-links": "--find-links PLACE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What requirement files ask for: requirements in their order, and constraints, which only bind what is needed."""

    requirements: tuple[Requirement, ...] = ()
    constraints: tuple[Requirement, ...] = ()

    def __add__(self, other: Wishes) -> Wishes:
        return Wishes(
            requirements=(*self.requirements, *other.requirements), constraints=(*self.constraints, *other.constraints)
        )

    def family_constraints(self, names: Collection[str]) -> tuple[Requirement, ...]:
        """The constraints on torch, and on its companions among `names`: the planner must know them beforehand."""
        asked = {canonicalize_name(name) for name in names} & set(TRIO) | {TRIO[0]}
        return tuple(c for c in self.constraints if canonicalize_name(c.name) in asked)


def parse(text: str, *, origin: PurePath, read: Read, variables: Mapping[str, str] | None = None) -> Wishes:
    """Read the text of a requirements file that lies at `origin`; files it names are relative to it.

    Comments, continued lines, markers, extras, addresses of wheels, `-r`, `-c` and ${VARIABLE} are read as pip does;
    hashes are dropped, since the lock holds those of the index. Raises InputError with file and line for all else.
    """
    reader = _Reader(read=read, variables=variables or {})
    reader.file(origin, text, constrains=False)
    return Wishes(requirements=tuple(reader.requirements), constraints=tuple(reader.constraints))


@dataclass(slots=True, kw_only=True)
class _Reader:
    read: Read
    variables: Mapping[str, str]
    requirements: list[Requirement] = field(default_factory=list)
    constraints: list[Requirement] = field(default_factory=list)
    open: list[PurePath] = field(default_factory=list)

    def file(self, path: PurePath, text: str, *, constrains: bool) -> None:
        self.open.append(path)
        for number, line in _lines(text):
            self._line(self._expanded(line), f"{path}:{number}", path, constrains)
        self.open.pop()

    def _expanded(self, line: str) -> str:
        return _VARIABLE.sub(lambda match: self.variables.get(match[1], match[0]), line)

    def _line(self, line: str, where: str, path: PurePath, constrains: bool) -> None:
        nested = _OPTION.fullmatch(line)
        if nested:
            self._nested(path.parent / nested["file"], nested["option"], where, constrains)
        elif line.startswith("-"):
            raise _unknown_option(line, where)
        elif constrains:
            self.constraints.append(_constraint(line, where))
        else:
            self.requirements.append(_requirement(line, where))

    def _nested(self, path: PurePath, option: str, where: str, constrains: bool) -> None:
        if path in self.open:
            raise InputError(f"{where}: {path} includes itself")
        try:
            text = self.read(path)
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint) from error
        self.file(path, text, constrains=constrains or option in ("-c", "--constraint"))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first line: continued ones joined, comments and blank ones dropped."""
    pending, start = "", 0
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        start = start or number
        bare = _COMMENT.sub("", line)
        if bare == line and line.endswith("\\"):
            pending += line[:-1]
            continue
        joined = (pending + bare).strip()
        if joined:
            yield start, joined
        pending, start = "", 0
    if pending.strip():
        yield start, pending.strip()


def _requirement(line: str, where: str) -> Requirement:
    line = _PER_REQUIREMENT.sub("", line).strip()
    try:
        return Requirement(_named(line))
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{where}: {line!r} is not a requirement: {reason}", hint=_requirement_hint(line)) from error


def _named(line: str) -> str:
    """The bare address of a wheel with the name that the file has; any other line as it is."""
    if "://" not in line or " @ " in line:
        return line
    filename = unquote(urlsplit(line).path.rsplit("/", 1)[-1])
    try:
        name = parse_wheel_filename(filename)[0]
    except InvalidWheelFilename:
        return line
    return f"{name} @ {line}"


def _requirement_hint(line: str) -> str:
    if line.endswith((".whl", ".tar.gz", ".zip")) or line.startswith((".", "/", "~")):
        return "name a local wheel by its address: NAME @ file:///path/to/NAME-1.0-py3-none-any.whl"
    return "write one requirement a line, like: transformers>=4.40"


def _constraint(line: str, where: str) -> Requirement:
    found = _requirement(line, where)
    if found.url or found.extras:
        raise InputError(f"{where}: a constraint can hold a version only: {line!r}", hint=f"{found.name}==1.0")
    return found


def _unknown_option(line: str, where: str) -> InputError:
    option = re.split(r"[=\s]", line, maxsplit=1)[0]
    if option in ("-e", "--editable"):
        return InputError(f"{where}: a project folder can't be locked: {line!r}", hint="list what it requires instead")
    known = _INDEX_OPTIONS.get(option)
    hint = f"give it to envsolve: {known}" if known else "remove the line"
    return InputError(f"{where}: the option {option} is not read from requirement files", hint=hint)
