"""Which Python the environment is for, where the input files have a say in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.errors import InputError
from envsolve.record import replace
from envsolve.regex import regex

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from envsolve.machine.machine import Machine

_ONE_MINOR = regex(r"==(\d+\.\d+)(\.\d+)*(\.\*)?")
_LAST_PATCH = ".99"  # no release reaches it


def settled_python(machine: Machine, asked: Sequence[tuple[str, SpecifierSet]], *, stated: bool) -> Machine:
    """The machine with a Python that the files take: its own, else one that they name, else another one it has.

    `stated`: the user named the machine's Python (--python, or the target does). Raises InputError where that one, or
    every one, is none that the files take.
    """
    unmet = [(where, spec) for where, spec in asked if machine.python and not _allows(machine.python, spec)]
    if machine.python and not unmet:
        return machine
    found = None if stated else _other(machine, [spec for _, spec in asked])
    if found is not None:
        talk.say(f"note: for Python {found}: {asked[0][0]} asks for python {asked[0][1]}")
        return replace(machine, python=found, assumed=tuple(a for a in machine.assumed if a != "python"))
    if not unmet:
        return machine
    where, spec = unmet[0]
    raise InputError(f"{where} asks for python {spec}, and this is for {machine.python}", hint=_hint(spec))


def _other(machine: Machine, specs: Sequence[SpecifierSet]) -> str | None:
    named = [found[1] for spec in specs if (found := _ONE_MINOR.fullmatch(str(spec)))]
    return next((python for python in (*named, *_minors(machine.pythons)) if _all_allow(python, specs)), None)


def _minors(pythons: Iterable[str]) -> list[str]:
    """Major and minor of interpreters, the newest first."""
    minors = {".".join(python.split(".")[:2]) for python in pythons}
    return sorted(minors, key=lambda text: tuple(int(part) for part in re.findall(r"\d+", text)), reverse=True)


def _all_allow(python: str, specs: Iterable[SpecifierSet]) -> bool:
    return all(_allows(python, spec) for spec in specs)


def _allows(python: str, spec: SpecifierSet) -> bool:
    """Whether some patch of a minor version is allowed: its last, or the one that is named exactly."""
    minor = python.rstrip("t")
    exact = [s.version for s in spec if s.operator in ("==", "===")]
    tried = [minor + _LAST_PATCH, f"{minor}.0", *(v for v in exact if v.startswith(f"{minor}."))]
    return any(spec.contains(version, prereleases=True) for version in tried if not version.endswith("*"))


def _hint(spec: SpecifierSet) -> str:
    found = re.search(r"\d+\.\d+", str(spec))
    return f"--python {found[0]}" if found else "--python names another"
