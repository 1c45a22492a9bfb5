"""ForeignPin, Foreign: what a lock or an environment of another tool pins of the torch family, and for which Python."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.record import record
from envsolve.regex import regex
from envsolve.resolve.request import TRIO

JUDGED = (*TRIO, "numpy")  # what the rules can judge

_VARIANT = regex(r"(?:^|/)(cu\d{2,3}|cpu|xpu|rocm\d[\d.]*)(?=/|$)")


@record
class ForeignPin:
    """One package as a file pins it; `variant` is what its address or its index says ("" = nothing).

    `markers` hold where the pin is taken; none = everywhere. `wheels` are the file names that are listed.
    """

    name: str
    versions: SpecifierSet
    where: str
    variant: str = ""
    markers: tuple[str, ...] = ()
    wheels: tuple[str, ...] = ()


@record
class Foreign:
    """The pins of the judged packages in a file, in its order; `tool` made it ("uv", "pip", "conda", …).

    `pythons` is what it asks of Python, each with its place. `variant` is one that the whole file names. `conda`: torch
    comes from a conda channel.
    """

    tool: str
    pins: tuple[ForeignPin, ...]
    pythons: tuple[tuple[str, SpecifierSet], ...] = ()
    variant: str = ""
    conda: bool = False


def variant_in(address: str) -> str:
    """The variant that an address names by one of its folders, "" for none."""
    found = _VARIANT.search(address.split("#")[0].split("?")[0])
    return found[1] if found else ""


def judged(name: str) -> bool:
    """Whether the rules can judge a package."""
    return canonicalize_name(name) in JUDGED


def only(pins: Sequence[ForeignPin]) -> tuple[ForeignPin, ...]:
    """The pins of the packages that are judged."""
    return tuple(pin for pin in pins if judged(pin.name))
