"""The header of a lock as comment lines, for people and for reading back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envsolve import __version__
from envsolve.errors import InputError
from envsolve.lock.lock import Lock, LockedPackage, LockHeader
from envsolve.lock.newer import newer_error
from envsolve.regex import regex

_FIRST = "made by envsolve "
_ADVICE = "; to change it, run this again:"
_NOT_PORTABLE = regex(r"no, from the disk of the machine that made it: (.+)")
_COMMAND_INDENT = "    "
_ONCE = ("target", "python", "platform", "variant", "index", "rules")
_KNOWN = (*_ONCE, "gpu", "portable", "passed over")
_FIELD = regex(r"(?P<key>[a-z][a-z -]*): (?P<value>.*)")


def header_lines(*locks: Lock) -> Iterator[str]:
    """The lines without the comment sign: who made the locks and how, then a section for each, from its target on."""
    header = locks[0].header
    yield f"{_FIRST}{header.envsolve}{_ADVICE}"
    yield f"{_COMMAND_INDENT}{header.command}"
    for lock in locks:
        yield from _section(lock)


def _section(lock: Lock) -> Iterator[str]:
    header = lock.header
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


def command_in(text: str) -> str:
    """The command in a header of comment lines, "" where there is none: also where what follows can't be read."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
    after = (n for n, line in enumerate(lines) if line.startswith(_FIRST) and line.endswith(_ADVICE))
    start = next(after, len(lines)) + 1
    found = lines[start] if start < len(lines) else ""
    return found.strip() if found.startswith(_COMMAND_INDENT) else ""


class HeaderReader:
    """Collects the header's lines while a lock is read. `what` names the file in errors."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._made_by: str | None = None
        self._command: str | None = None
        self._sections: list[dict[str, list[str]]] = []
        self._unknown: list[str] = []

    def feed(self, line: str) -> None:
        """Take one line without the comment sign; people's own comments are left alone."""
        field = _FIELD.fullmatch(line)
        if line.startswith(_FIRST):
            self._made_by = line.removeprefix(_FIRST).removesuffix(_ADVICE)
        elif line.startswith(_COMMAND_INDENT) and self._command is None:
            self._command = line.strip()
        elif field:
            self._field(field["key"], field["value"])

    def _field(self, key: str, value: str) -> None:
        if key not in _KNOWN:
            self._unknown.append(key)
            return
        if key == "target" or not self._sections:
            self._sections.append({})
        self._sections[-1].setdefault(key, []).append(value)

    def check(self) -> None:
        """Raises InputError if this is not a lock of envsolve's, or one of a newer envsolve with more in it."""
        if self._made_by is None or self._command is None or not self._sections:
            raise InputError(f"{self._what} was not made by envsolve", hint="envsolve lock -o requirements.lock.txt")
        if self._unknown and (error := self.newer(self._unknown)):
            raise error

    def newer(self, unknown: Sequence[str]) -> InputError | None:
        """The error for unknown lines, if a newer envsolve made the file."""
        return newer_error(self._what, self._made_by or "0", unknown, __version__)

    @property
    def places(self) -> list[tuple[str, str]]:
        """Platform and Python of each section."""
        return [(self._one(section, "platform"), self._one(section, "python")) for section in self._sections]

    def locks(self, packages: Sequence[tuple[LockedPackage, ...]]) -> tuple[Lock, ...]:
        """The locks, given the packages of each section."""
        return tuple(self._lock(section, some) for section, some in zip(self._sections, packages, strict=True))

    def _lock(self, section: dict[str, list[str]], packages: tuple[LockedPackage, ...]) -> Lock:
        return Lock(
            header=LockHeader(
                command=self._command or "",
                target=self._one(section, "target"),
                gpus=tuple(section.get("gpu", ())),
                rules=self._one(section, "rules"),
                envsolve=self._made_by or "",
                portable="portable" not in section,
                local=self._local(section),
                passed_over=tuple(section.get("passed over", ())),
            ),
            python=self._one(section, "python"),
            platform=self._one(section, "platform"),
            variant=self._one(section, "variant"),
            index_url=self._one(section, "index"),
            packages=packages,
        )

    def _local(self, section: dict[str, list[str]]) -> tuple[str, ...]:
        found = _NOT_PORTABLE.fullmatch(section["portable"][0]) if "portable" in section else None
        return tuple(found[1].split(", ")) if found else ()

    def _one(self, section: dict[str, list[str]], key: str) -> str:
        values = section.get(key, [])
        if len(values) != 1:
            raise InputError(f"{self._what}: the header has {len(values)} lines '{key}: …', not one")
        return values[0]
