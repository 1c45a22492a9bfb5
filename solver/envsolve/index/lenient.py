"""Requirements as old METADATA writes them: what is against PEP 440 and 508, and yet plain."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envsolve.regex import regex

# Slips of published wheels, put right as uv does: pytorch-lightning 1.6 needs "torch (>=1.8.*)".
_SLIPS = (
    (regex(r"(>=|<=|~=|>|<)\s*(\d+(?:\.\d+)*)\.\*"), r"\1\2"),  # >=1.8.* is >=1.8
    (regex(r"([<>=]\s*\d[\w.*]*)\s*(?=[<>=~!]=|[<>])"), r"\1,"),  # >=1.8<2 lacks its comma
    (regex(r",\s*(?=\)|;|$)"), ""),  # >=1.8, has one too many
)


def lenient_requirement(text: str) -> Requirement:
    """A line of Requires-Dist. Raises InvalidRequirement for what can't be understood."""
    try:
        return Requirement(text)
    except InvalidRequirement:
        versions, semicolon, marker = text.partition(";")
        return Requirement(_put_right(versions) + semicolon + marker)


def lenient_specifiers(text: str) -> SpecifierSet:
    """A Requires-Python. Raises InvalidSpecifier for what can't be understood."""
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        return SpecifierSet(_put_right(text))


def _put_right(text: str) -> str:
    for slip, right in _SLIPS:
        text = slip.sub(right, text)
    return text
