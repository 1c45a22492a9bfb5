"""Wishes: what requirement files ask for, whatever their format."""

from __future__ import annotations

from collections.abc import Collection

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.record import names_of, record
from envsolve.resolve.request import TRIO


@record
class Wishes:
    """Requirements in their order, and constraints, which only bind what is needed.

    `pythons` holds what is asked of the target's Python and `variants` what CUDA a file names (a conda environment's
    pytorch-cuda), each with its place. `left_out` lists, with their place, entries that pip has no counterpart for.
    """

    requirements: tuple[Requirement, ...] = ()
    constraints: tuple[Requirement, ...] = ()
    pythons: tuple[tuple[str, SpecifierSet], ...] = ()
    variants: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()

    def __add__(self, other: Wishes) -> Wishes:
        return Wishes(**{name: (*getattr(self, name), *getattr(other, name)) for name in names_of(self)})

    def family_constraints(self, names: Collection[str]) -> tuple[Requirement, ...]:
        """The constraints on torch, and on its companions among `names`: the planner must know them beforehand."""
        asked = {canonicalize_name(name) for name in names} & set(TRIO) | {TRIO[0]}
        return tuple(c for c in self.constraints if canonicalize_name(c.name) in asked)
