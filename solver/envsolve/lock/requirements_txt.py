"""requirements.txt with hashes: what pip --require-hashes, uv pip sync and pip-sync take.

The torch family stands by the address of its one wheel, so that no other index can supply it; `--hash` beside an
address would make pip-sync fetch it again each time, so its hash is in the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.version import InvalidVersion, Version

from envsolve.errors import InputError
from envsolve.lock.addresses import filename_of
from envsolve.lock.header import HeaderReader, header_lines
from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.lock.pins import Pin, packages_at, pins_of
from envsolve.regex import regex

_VIA = "    # via "
_HASHED_HERE = "    # hashed by envsolve, the index gives no hash: "
_DIRECT = regex(r"(?P<name>\S+) @ (?P<url>\S+)#sha256=(?P<hash>[0-9a-f]{64})(?: ; (?P<marker>.+))?")
_PINNED = regex(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>\S+)(?: ; (?P<marker>.+))? \\")
_HASH = regex(r"    --hash=sha256:(?P<hash>[0-9a-f]{64})(?P<more> \\)?")


def write(*locks: Lock) -> str:
    """The text of the lock, or of several in one, each package with the marker of the targets that take it.

    The same locks give the same bytes. Raises InputError where markers can't tell the targets apart.
    """
    lines = [f"# {line}" for line in header_lines(*locks)]
    for pin in pins_of(locks):
        lines.extend(_package_lines(pin))
    return "\n".join(lines) + "\n"


def _package_lines(pin: Pin) -> Iterator[str]:
    package, marker = pin.package, f" ; {pin.marker}" if pin.marker else ""
    if package.direct:
        file = package.files[0]
        yield f"{package.name} @ {file.url}#sha256={file.sha256}{marker}"
    else:
        hashes = sorted({file.sha256 for file in package.files})
        yield f"{package.name}=={package.version}{marker} \\"
        yield from (f"    --hash=sha256:{h} \\" for h in hashes[:-1])
        yield f"    --hash=sha256:{hashes[-1]}"
    if package.via:
        yield _VIA + ", ".join(package.via)
    for digest in sorted({file.sha256 for file in package.files if file.hashed_here}):
        yield _HASHED_HERE + digest


def read(text: str, *, what: str = "the lock") -> Lock:
    """The Lock behind a text that holds one. Raises InputError as `read_all`, and where there are several."""
    locks = read_all(text, what=what)
    if len(locks) > 1:
        raise InputError(f"{what} holds locks for {len(locks)} targets")
    return locks[0]


def read_all(text: str, *, what: str = "the lock") -> tuple[Lock, ...]:
    """The locks behind such a text, in its order; `what` names it in errors.

    File names, addresses and sizes of packages that are pinned by version are not in the text: they read as "" and
    None. Raises InputError for anything that envsolve does not write, with the line number.
    """
    header = HeaderReader(what)
    reader = _Reader(what)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("# "):
            header.feed(line[2:])
        elif line.strip():
            _feed(reader, header, number, line)
    header.check()
    pins = reader.pins()
    try:
        found = [packages_at(pins, place) for place in header.places]
        for packages in found:
            _check_once(packages, what)
        return header.locks(found)
    except (ValueError, KeyError) as error:
        raise InputError(f"{what}: {str(error).splitlines()[0]}", hint="envsolve lock") from error


def _check_once(packages: Sequence[LockedPackage], what: str) -> None:
    names = [package.name for package in packages]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{what} has {twice} twice for one target", hint="envsolve lock")


def _feed(reader: _Reader, header: HeaderReader, number: int, line: str) -> None:
    try:
        reader.feed(number, line)
    except InputError as error:
        header.check()  # a file of others is told as that
        raise header.newer([line.strip()]) or error from None


class _Reader:
    """Collects packages line by line: a head line, then hashes and comments that belong to it."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._packages: list[_Draft] = []

    def pins(self) -> list[Pin]:
        """What was read. Raises InputError for a package without a hash."""
        packages = [Pin(package=draft.package(), marker=draft.marker) for draft in self._packages]
        bare = next((pin.package for pin in packages if not pin.package.files), None)
        if bare:
            raise InputError(f"{self._what}: {bare.name}=={bare.version} has no hash", hint="envsolve lock")
        return packages

    def feed(self, number: int, line: str) -> None:
        if line.startswith("    ") and self._packages:
            if not self._packages[-1].add(line):
                raise self._wrong(number, line)
            return
        draft = self._head(number, line)
        if draft is None:
            raise self._wrong(number, line)
        self._packages.append(draft)

    def _head(self, number: int, line: str) -> _Draft | None:
        direct = _DIRECT.fullmatch(line)
        if direct:
            return _direct_draft(direct)
        pinned = _PINNED.fullmatch(line)
        try:
            return _Draft(pinned["name"], Version(pinned["version"]), pinned["marker"]) if pinned else None
        except InvalidVersion:
            return None

    def _wrong(self, number: int, line: str) -> InputError:
        return InputError(f"{self._what}, line {number}: not a line of a lock: {line.strip()!r}", hint="envsolve lock")


def _direct_draft(match: re.Match[str]) -> _Draft | None:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    filename = filename_of(match["url"])
    try:
        version = parse_wheel_filename(filename)[1]
    except InvalidWheelFilename:
        return None
    draft = _Draft(match["name"], version, match["marker"])
    draft.direct = (filename, match["url"], match["hash"])
    return draft


class _Draft:
    """A package while its lines are read."""

    def __init__(self, name: str, version: Version, marker: str | None) -> None:
        self.name = name
        self.marker = marker or ""
        self.version = version
        self.direct: tuple[str, str, str] | None = None
        self._hashes: list[str] = []
        self._via: tuple[str, ...] = ()
        self._hashed_here: set[str] = set()

    def add(self, line: str) -> bool:
        """Take a line that belongs to this package; False if it is none."""
        found = _HASH.fullmatch(line)
        if found and self.direct is None:
            self._hashes.append(found["hash"])
        elif line.startswith(_VIA):
            self._via = tuple(line.removeprefix(_VIA).split(", "))
        elif line.startswith(_HASHED_HERE):
            self._hashed_here.add(line.removeprefix(_HASHED_HERE))
        else:
            return False
        return True

    def package(self) -> LockedPackage:
        files = [("", "", digest) for digest in self._hashes] if self.direct is None else [self.direct]
        return LockedPackage(
            name=self.name,
            version=self.version,
            files=tuple(
                LockedFile(filename=filename, url=url, sha256=digest, hashed_here=digest in self._hashed_here)
                for filename, url, digest in files
            ),
            direct=self.direct is not None,
            via=self._via,
        )
