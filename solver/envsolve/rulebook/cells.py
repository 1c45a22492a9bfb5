"""Cells: the texts of compiled rows turned into values. Most texts recur, so that each is parsed once."""

from __future__ import annotations

import re
from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.regex import regex

_CUDA_VARIANT = regex(r"cu(\d+)(\d)", re.ASCII)


@cache
def version(text: str) -> Version:
    """ "2.9.1" """
    return Version(text)


@cache
def versions(text: str) -> tuple[Version, ...]:
    """ "0.29.2 0.29.1" """
    return tuple(map(version, text.split()))


@cache
def specifier(text: str) -> SpecifierSet:
    """ ">=2.12" """
    return SpecifierSet(text)


@cache
def dotted(text: str) -> Dotted:
    """ "580.65.06" """
    return Dotted.parse(text)


def maybe_dotted(text: str | None) -> Dotted | None:
    """A dotted version, or None."""
    return None if text is None else dotted(text)


@cache
def dotteds(text: str) -> tuple[Dotted, ...]:
    """ "3.8 3.9 3.10", or "" for none."""
    return tuple(map(dotted, text.split()))


@cache
def words(text: str) -> tuple[str, ...]:
    """ "gfx1100 gfx1101", or "" for none."""
    return tuple(text.split())


@cache
def span(text: str) -> tuple[Dotted, Dotted]:
    """ "3.9 3.13" """
    first, last = text.split()
    return dotted(first), dotted(last)


@cache
def capability(text: str) -> Capability:
    """ "8.9" """
    return Capability.parse(text)


@cache
def capabilities(text: str) -> tuple[Capability, ...]:
    """ "3.5 2.1", or "" for none."""
    return tuple(map(capability, text.split()))


@cache
def cubins(text: str) -> tuple[Target, ...]:
    """ "75 80 90a", or "" for none."""
    return tuple(Target.parse(f"sm_{number}") for number in text.split())


@cache
def ptx(text: str) -> tuple[Target, ...]:
    """ "120", or "" for none."""
    return tuple(Target.parse(f"compute_{number}") for number in text.split())


@cache
def cuda_of(variant: str) -> Dotted | None:
    """The wheel's CUDA: cu128 -> 12.8; None for a variant without CUDA."""
    match = _CUDA_VARIANT.fullmatch(variant)
    return Dotted.parse(f"{match[1]}.{match[2]}") if match else None


def rocm(variant: str) -> Dotted:
    """The ROCm version of a variant: rocm6.4 -> 6.4."""
    return dotted(variant.removeprefix("rocm"))
