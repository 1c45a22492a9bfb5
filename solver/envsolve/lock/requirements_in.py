"""requirements.in: the requirements and constraints that people write, with nested files. Others read the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import PurePath

from packaging.requirements import Requirement

from envsolve.addresses import PYTORCH_HOSTS
from envsolve.errors import InputError
from envsolve.lock.merged import check_merged
from envsolve.lock.requirement_line import constraint_of, requirement_of
from envsolve.lock.wishes import Wishes
from envsolve.regex import regex

Read = Callable[[PurePath], str]  # may raise InputError: the file is not there

_COMMENT = regex(r"(^|\s)#.*$")
_OPTION = regex(r"(?P<option>-[rc]|--requirement|--constraint)(?:\s+|=|(?<=^-[rc]))(?P<file>\S.*)")
_VARIABLE = regex(r"\$\{([A-Z0-9_]+)\}")
_RELATIVE = "a file that another one names is looked for beside that one"
_INDEX_OPTIONS = {
    "-i": "--index URL",
    "--index-url": "--index URL",
    "--extra-index-url": "--extra-index URL",
    "-f": "--find-links PLACE",
    "--find-links": "--find-links PLACE",
}


def parse(
    text: str, *, origin: PurePath, read: Read, variables: Mapping[str, str] | None = None, constrains: bool = False
) -> Wishes:
    """Read the text of a requirements file that lies at `origin`; files it names are relative to it.

    Comments, continued lines, markers, extras, addresses of wheels, `-r`, `-c` and ${VARIABLE} are read as pip does;
    hashes are dropped, since the lock holds those of the index. With `constrains` the file is a constraints file.
    Raises InputError with file and line for all else.
    """
    reader = _Reader(read=read, variables=variables or {})
    reader.file(origin, text, constrains=constrains)
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
        check_merged(text, str(path))
        for number, line in logical_lines(text):
            self._line(self._expanded(line), f"{path}:{number}", path, constrains)
        self.open.pop()

    def _expanded(self, line: str) -> str:
        return _VARIABLE.sub(lambda match: self.variables.get(match[1], match[0]), line)

    def _line(self, line: str, where: str, path: PurePath, constrains: bool) -> None:
        nested = _OPTION.fullmatch(line)
        if nested:
            self._nested(_beside(path, nested["file"], where), nested["option"], where, constrains)
        elif line.startswith("-"):
            raise _unknown_option(line, where)
        elif constrains:
            self.constraints.append(constraint_of(line, where))
        else:
            self.requirements.append(requirement_of(line, where))

    def _nested(self, path: PurePath, option: str, where: str, constrains: bool) -> None:
        if normpath(path) in map(normpath, self.open):
            raise InputError(f"{where}: {path} includes itself", hint="take that line out")
        try:
            text = self.read(path)
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint or _RELATIVE) from error
        self.file(path, text, constrains=constrains or option in ("-c", "--constraint"))


def _beside(path: PurePath, named: str, where: str) -> PurePath:
    """The path of a file that another one names, in quotes or not."""
    if "://" in named:
        raise InputError(f"{where}: only files on disk are read: {named}", hint="download it, and name the copy")
    quoted = re.fullmatch(r"""(["'])(.+)\1""", named)
    return path.parent / (quoted[2] if quoted else named)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
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


def _unknown_option(line: str, where: str) -> InputError:
    option = re.split(r"[=\s]", line, maxsplit=1)[0]
    if option in ("-e", "--editable"):
        return InputError(f"{where}: a project folder can't be locked: {line!r}", hint="list what it requires instead")
    if any(host in line for host in PYTORCH_HOSTS):
        hint = "remove the line: envsolve finds the folder of the PyTorch index itself"
    else:
        known = _INDEX_OPTIONS.get(option)
        hint = f"give it to envsolve: {known}" if known else "remove the line"
    return InputError(f"{where}: the option {option} is not read from requirement files", hint=hint)
