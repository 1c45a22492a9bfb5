"""Add requirements to a pyproject.toml: the rest stays byte for byte.

An insertion into the text of one array, which is then read back and compared: a TOML library that keeps the form of a
file would be one more dependency for this one line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from envsolve.errors import InputError
from envsolve.regex import regex

_HEADER = regex(r"^[ \t]*\[[ \t]*(?:project|\"project\"|'project')[ \t]*\][ \t]*(?:#[^\r\n]*)?(\r?\n|$)", re.M)
_NEXT = regex(r"^[ \t]*\[", re.M)
_KEY = regex(r"^[ \t]*(?:dependencies|\"dependencies\"|'dependencies')[ \t]*=[ \t]*\[", re.M)
_LINE_END = regex(r"[ \t]*(?:#[^\r\n]*)?(\r?\n)([ \t]*)")


def with_dependencies(text: str, more: Sequence[str], *, origin: str) -> str:
    """The text with these requirements in project.dependencies, before those that are there.

    Raises InputError where that can't be done without touching anything else.
    """
    before = _parsed(text, origin)
    project = before.get("project")
    if not isinstance(project, dict) or "dependencies" in project.get("dynamic", ()):
        raise _cannot(origin, more)
    edited = _inserted(text, [json.dumps(requirement, ensure_ascii=False) for requirement in more])
    wanted = {**project, "dependencies": [*more, *project.get("dependencies", [])]}
    if edited is None or _parsed(edited, origin) != {**before, "project": wanted}:
        raise _cannot(origin, more)
    return edited


def _inserted(text: str, items: Sequence[str]) -> str | None:
    header = _HEADER.search(text)
    if header is None:
        return None
    key = _KEY.search(text, header.end())
    after = _NEXT.search(text, header.end())
    if key is None or (after is not None and key.start() > after.start()):
        newline = header[1] or "\n"
        opening = "" if header[1] else "\n"
        return f"{text[: header.end()]}{opening}dependencies = [{', '.join(items)}]{newline}{text[header.end() :]}"
    rest = text[key.end() :]
    line = _LINE_END.match(rest)
    if line is None:  # an array that starts on the key's line
        comma = "" if rest.lstrip(" \t").startswith("]") else ", "
        return f"{text[: key.end()]}{', '.join(items)}{comma}{rest}"
    newline = line[1]
    indent = line[2] if not rest[line.end() :].startswith("]") else line[2] + "    "
    lines = "".join(f"{indent}{item},{newline}" for item in items)
    place = key.end() + line.end(1)
    return text[:place] + lines + text[place:]


def _parsed(text: str, origin: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin}: {error}") from error


def _cannot(origin: str, more: Sequence[str]) -> InputError:
    wanted = ", ".join(json.dumps(requirement) for requirement in more)
    return InputError(
        f"{origin}: its dependencies can't be added to without touching the rest",
        hint=f"add to project.dependencies yourself: {wanted}",
    )
