"""The header of a lock as comment lines, for people and for reading back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envsolve.errors import InputError
from envsolve.lock.lock import Lock, LockHeader

_FIRST = "made by envsolve "
_ADVICE = "; to change it, run this again:"
_NOT_PORTABLE = re.compile(r"no, from the disk of the machine that made it: (.+)")
_COMMAND_INDENT = "    "


def header_lines(lock: Lock) -> Iterator[str]:
    """The lines without the comment sign."""
    header = lock.header
    yield f"{_FIRST}{header.envsolve}{_ADVICE}"
    yield f"{_COMMAND_INDENT}{header.command}"
    yield f"target: {header.target}"
    yield f"python: {lock.python}"
    yield f"platform: {lock.platform}"
    yield f"variant: {lock.variant}"
    yield f"index: {lock.index_url}"
    yield from (f"gpu: {gpu}" for gpu in header.gpus)
    yield f"rules: {header.rules}"
    if not header.portable:
        yield f"portable: no, from the disk of the machine that made it: {', '.join(header.local)}"
    yield from (f"passed over: {name}" for name in header.passed_over)


class HeaderReader:
    """Collects the header's lines while a lock is read. `what` names the file in errors."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._made_by: str | None = None
        self._command: str | None = None
        self._fields: dict[str, list[str]] = {}

    def feed(self, line: str) -> None:
        """Take one line without the comment sign; lines that are not of the header are left alone."""
        if line.startswith(_FIRST):
            self._made_by = line.removeprefix(_FIRST).removesuffix(_ADVICE)
        elif line.startswith(_COMMAND_INDENT) and self._command is None:
            self._command = line.strip()
        elif ": " in line:
            key, value = line.split(": ", 1)
            self._fields.setdefault(key, []).append(value)

    def header(self) -> LockHeader:
        """The header. Raises InputError if this is not a lock of envsolve's."""
        if self._made_by is None or self._command is None:
            raise InputError(f"{self._what} was not made by envsolve", hint="envsolve lock -o requirements.lock.txt")
        return LockHeader(
            command=self._command,
            target=self.field("target"),
            gpus=self.fields("gpu"),
            rules=self.field("rules"),
            envsolve=self._made_by,
            portable="portable" not in self._fields,
            local=self._local(),
            passed_over=self.fields("passed over"),
        )

    def _local(self) -> tuple[str, ...]:
        if "portable" not in self._fields:
            return ()
        found = _NOT_PORTABLE.fullmatch(self.field("portable"))
        return tuple(found[1].split(", ")) if found else ()

    def field(self, key: str) -> str:
        """A field that is there once. Raises InputError if it is not."""
        values: Sequence[str] = self._fields.get(key, ())
        if len(values) != 1:
            raise InputError(f"{self._what}: the header has {len(values)} lines '{key}: …', not one")
        return values[0]

    def fields(self, key: str) -> tuple[str, ...]:
        """All values of a field, in order."""
        return tuple(self._fields.get(key, ()))
