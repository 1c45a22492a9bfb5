"""requirements.txt and `pip freeze` of others: read leniently, since all but the torch family does not matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from envsolve.errors import InputError
from envsolve.lock.foreign_pin import JUDGED, Foreign, ForeignPin, judged, variant_in
from envsolve.lock.requirement_line import requirement_of
from envsolve.lock.requirements_in import logical_lines
from envsolve.lock.url_version import version_of_url
from envsolve.regex import regex

_INDEX = regex(r"(?:-i|-f|--index-url|--extra-index-url|--find-links)(?:\s+|=)(?P<address>\S+)")
_JUDGED = regex(rf"(?:{'|'.join(JUDGED)})(?![\w.-])", re.IGNORECASE)


def read(text: str, filename: str) -> Foreign:
    """The Foreign behind such a file. Raises InputError for lines on the torch family that can't be read."""
    pins: list[ForeignPin] = []
    variants: list[str] = []
    for number, line in logical_lines(text):
        option = _INDEX.match(line)
        if option:
            variants += filter(None, [variant_in(option["address"])])
        elif _JUDGED.match(line) or "://" in line:
            pins += _pins(line, f"{filename}:{number}")
    variant = variants[0] if len(set(variants)) == 1 else ""
    return Foreign(tool="pip", pins=tuple(pins), variant=variant)


def _pins(line: str, where: str) -> Iterator[ForeignPin]:
    try:
        requirement = requirement_of(line, where)
    except InputError:
        if _JUDGED.match(line):
            raise
        return
    if judged(requirement.name):
        yield pin_of(requirement, where)


def pin_of(requirement: Requirement, where: str) -> ForeignPin:
    """The pin of a requirement, an address taken for the version of its file. Raises InputError."""
    versions, variant = requirement.specifier, ""
    if requirement.url is not None:
        versions = SpecifierSet(f"=={version_of_url(requirement.url, where)}")
        variant = variant_in(requirement.url)
    markers = (str(requirement.marker),) if requirement.marker else ()
    return ForeignPin(name=requirement.name.lower(), versions=versions, where=where, variant=variant, markers=markers)
