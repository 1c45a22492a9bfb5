"""Wish: one requirement of one wheel or person, its marker evaluated, as plain data that can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PYTHON = "<python>"  # no package can be called that
_EXACT = ("==", "===")
_UPPER = ("<", "<=", "~=", "==", "===")


class Wish(NamedTuple):
    """A package ("" for `extra`) or one extra of it; `specifier` and `text` are how its author wrote them.

    `exact`: names one version; `bounded`: has an upper bound; `prereleases`: allows them. `url` is "" but for
    requirements that name an address.
    """

    name: str
    extra: str
    specifier: str
    text: str
    exact: bool
    bounded: bool
    prereleases: bool
    url: str = ""


# What a wheel needs whose METADATA could not be looked at offline: nothing satisfies it.
NOT_AT_HAND = Wish("<offline>", "", "", "METADATA that is not at hand", exact=False, bounded=False, prereleases=False)

# What a wheel needs whose METADATA can't be read.
UNREADABLE = Wish("<unreadable>", "", "", "what its METADATA says, which can't be read", False, False, False)


def wishes_of(requirement: Requirement) -> Iterator[Wish]:
    """One for the package and one for each extra; the marker has been looked at."""
    name = canonicalize_name(requirement.name)
    specifier, text = requirement.specifier, without_marker(requirement)
    operators = [(s.operator, s.version) for s in specifier]
    for extra in ("", *sorted(canonicalize_name(extra) for extra in requirement.extras)):
        yield Wish(
            name=name,
            extra=extra,
            specifier=str(specifier),
            text=text,
            exact=any(operator in _EXACT and not version.endswith(".*") for operator, version in operators),
            bounded=any(operator in _UPPER for operator, _ in operators),
            prereleases=bool(specifier.prereleases),
            url=requirement.url or "",
        )


def key_of(wish: Wish) -> str:
    """What resolvelib calls it: "accelerate", or "accelerate[test]" for an extra."""
    return f"{wish.name}[{wish.extra}]" if wish.extra else wish.name


def impossible_python(requires_python: SpecifierSet) -> Wish:
    """What a wheel needs whose METADATA rules the target's Python out: nothing satisfies it."""
    text = f"python {requires_python}"
    return Wish(PYTHON, "", str(requires_python), text, exact=False, bounded=False, prereleases=False)


def without_marker(requirement: Requirement) -> str:
    """The text of a requirement, less its marker: where it is told, it holds."""
    text = str(requirement)
    return text.removesuffix(str(requirement.marker)).rstrip("; ") if requirement.marker else text
