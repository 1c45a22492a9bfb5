"""Declared: what a project says in .envsolve.toml of its targets, inputs and locks."""

from __future__ import annotations

from envsolve.record import record

FILE = ".envsolve.toml"
SCHEMA = 1


@record
class DeclaredTarget:
    """One machine that the locks must fit: as --target takes it, a profile's path being relative to the project.

    `locks` and `variants` are its own ones; () stands for those of the project. `gpus` is what --gpus takes.
    """

    machine: str
    locks: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    gpus: str = "all"


@record
class Declared:
    """The whole file. Paths are relative to the project and have forward slashes.

    `variants` are those that a lock may hold; () = any. `sdists`: source archives may stand in for missing wheels.
    """

    requirements: tuple[str, ...]
    targets: tuple[DeclaredTarget, ...]
    locks: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    sdists: bool = False

    def locks_of(self, target: DeclaredTarget) -> tuple[str, ...]:
        """The files that hold a target's lock, in each of its formats."""
        return target.locks or self.locks

    def variants_of(self, target: DeclaredTarget) -> tuple[str, ...]:
        """The variants that a target's lock may hold; () = any."""
        return target.variants or self.variants
