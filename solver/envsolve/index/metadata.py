"""METADATA: from bytes to WheelMetadata, and its short form for the cache."""

from __future__ import annotations

from typing import Any

from packaging.requirements import InvalidRequirement

from envsolve.errors import OutsideError, UnreadableError
from envsolve.index.fitting import canonical, version
from envsolve.index.lenient import lenient_requirement
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.index.release_file import specifiers

Condensed = dict[str, Any]


def condense(content: bytes, file: ReleaseFile, where: str) -> Condensed:
    """What envsolve needs of METADATA, as plain data. Raises OutsideError if it is not that of `file`."""
    from email.parser import HeaderParser  # not needed where METADATA is cached

    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    fields = HeaderParser().parsestr(text.split("\n\n", 1)[0])
    name, number = fields.get("Name"), fields.get("Version")
    if not name or not number:
        raise OutsideError(f"{where} holds no METADATA")
    if canonical(name) != file.name or version(number) != file.version:
        raise OutsideError(f"{where} says that it is {name} {number}, not {file.name} {file.version}")
    return {
        "version": number,
        "requires": [" ".join(line.split()) for line in fields.get_all("Requires-Dist", [])],
        "extras": [extra.strip() for extra in fields.get_all("Provides-Extra", [])],
        "requires_python": fields.get("Requires-Python"),
    }


def expand(condensed: Condensed, file: ReleaseFile) -> WheelMetadata:
    """The WheelMetadata of the short form. Raises UnreadableError for a requirement that can't be read."""
    number = version(condensed["version"])
    assert number is not None
    try:
        requires = tuple(lenient_requirement(line) for line in condensed["requires"])
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise UnreadableError(f"METADATA of {file.filename} has a requirement that can't be read: {reason}") from error
    return WheelMetadata(
        name=file.name,
        version=number,
        requires=requires,
        extras=frozenset(canonical(extra) for extra in condensed["extras"]),
        requires_python=specifiers(condensed["requires_python"]),
    )
