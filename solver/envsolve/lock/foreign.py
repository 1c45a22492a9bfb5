"""Foreign: what a lock or an environment of another tool pins of the torch family, and for which Python."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.errors import InputError
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


def read_foreign(text: str, filename: str) -> Foreign:
    """The Foreign behind a uv.lock, poetry.lock, pdm.lock, pylock.toml, environment.yml, conda-lock.yml or
    requirements.txt, told apart by name and content.

    Raises InputError for what is none of them, and where torch is not among what it pins.
    """
    found = _read(text, filename)
    if not any(pin.name == "torch" for pin in found.pins):
        raise InputError(f"{filename} pins no torch", hint="envsolve plan, to choose one")
    return found


def _read(text: str, filename: str) -> Foreign:
    if filename.endswith((".yml", ".yaml")):
        from envsolve.lock import foreign_conda

        return foreign_conda.read(text, filename)
    if filename.endswith((".lock", ".toml")):
        from envsolve.lock import foreign_toml

        return foreign_toml.read(text, filename)
    from envsolve.lock import foreign_requirements

    return foreign_requirements.read(text, filename)


def only(pins: Sequence[ForeignPin]) -> tuple[ForeignPin, ...]:
    """The pins of the packages that are judged."""
    return tuple(pin for pin in pins if judged(pin.name))
