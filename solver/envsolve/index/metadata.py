"""METADATA: from bytes to WheelMetadata, and its short form for the cache."""

from __future__ import annotations

import re
from typing import Any

from packaging.requirements import InvalidRequirement

from envsolve.errors import OutsideError, UnreadableError
from envsolve.index.fitting import canonical, version
from envsolve.index.lenient import lenient_requirement
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.index.release_file import specifiers
from envsolve.regex import regex

Condensed = dict[str, Any]
_HEADER_NAME = regex(r"[!-9;-~]+", re.ASCII)


def condense(content: bytes, file: ReleaseFile, where: str) -> Condensed:
    """What envsolve needs of METADATA, as plain data. Raises OutsideError if it is not that of `file`."""
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    fields = _fields(text.split("\n\n", 1)[0])
    name, number = _first(fields, "name"), _first(fields, "version")
    if not name or not number:
        raise OutsideError(f"{where} holds no METADATA")
    if canonical(name) != file.name or version(number) != file.version:
        raise OutsideError(f"{where} says that it is {name} {number}, not {file.name} {file.version}")
    return {
        "version": number,
        "requires": [" ".join(line.split()) for line in fields.get("requires-dist", ())],
        "extras": [extra.strip() for extra in fields.get("provides-extra", ())],
        "requires_python": _first(fields, "requires-python"),
    }


def _fields(text: str) -> dict[str, list[str]]:
    """The values of each header, by its name in lower case: what email's parser says of them, in a tenth of its time.

    As there, lines that begin with a blank go on with the one before, and a line that is no header ends them.
    """
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in text.split("\n"):
        if line.startswith((" ", "\t")):
            if values:
                values[-1] += f"\n{line}"
            continue
        name, colon, value = line.partition(":")
        if not colon or not _HEADER_NAME.fullmatch(name):
            break
        values = found.setdefault(name.lower(), [])
        values.append(value.strip())
    return found


def _first(fields: dict[str, list[str]], name: str) -> str | None:
    return fields[name][0] if name in fields else None


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
