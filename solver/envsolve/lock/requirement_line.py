"""One requirement as people write it in a file, with an error that says where it stands."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from envsolve.errors import InputError
from envsolve.lock.addresses import filename_of
from envsolve.regex import regex

_NAMED_ADDRESS = regex(r"[\w.-]+\s*(\[[^\]]*\])?\s*@")
_BARE_ADDRESS = regex(r"(?P<url>\S+://\S+)(?P<marker>\s+;.*)?")
_VERSION_CONTROL = ("git+", "hg+", "svn+", "bzr+")
_PER_REQUIREMENT = regex(r"\s+--(hash|config-settings?|global-option)[=\s].*$")


def requirement_of(line: str, where: str) -> Requirement:
    """The Requirement of a line; options behind it are dropped. Raises InputError with `where`."""
    line = _PER_REQUIREMENT.sub("", line).strip()
    try:
        return Requirement(_named(line))
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{where}: {line!r} is not a requirement: {reason}", hint=_hint(line)) from error


def constraint_of(line: str, where: str) -> Requirement:
    """The Requirement of a line of a constraints file. Raises InputError with `where`."""
    found = requirement_of(line, where)
    if found.url or found.extras:
        raise InputError(f"{where}: a constraint can hold a version only: {line!r}", hint=f"{found.name}==1.0")
    return found


def _named(line: str) -> str:
    """The bare address of a wheel with the name that the file has; any other line as it is."""
    bare = _BARE_ADDRESS.fullmatch(line)
    if bare is None or _NAMED_ADDRESS.match(line):
        return line
    filename = filename_of(bare["url"])
    try:
        name = parse_wheel_filename(filename)[0]
    except InvalidWheelFilename:
        return line
    return f"{name} @ {line}"


def _hint(line: str) -> str:
    if line.startswith(_VERSION_CONTROL):
        return "only the address of a wheel can be locked: build one and name it"
    if line.endswith((".whl", ".tar.gz", ".zip")) or line.startswith((".", "/", "~")):
        return "name a local wheel by its address: NAME @ file:///path/to/NAME-1.0-py3-none-any.whl"
    return "write one requirement a line, like: transformers>=4.40"
