"""NVIDIA's two kinds of kernel modules for Linux: which of them drives which cards. A host has one kind loaded."""

from __future__ import annotations

from envsolve.capability import Capability
from envsolve.machine.machine import Machine
from envsolve.rulebook.ways_rows import ModuleKind
from envsolve.rulebook.ways_tables import Ways


def module_kind(found: tuple[Capability, ...], branch: int, ways: Ways) -> str:
    """ "open" or "proprietary" kernel modules: what drives all cards, and the usual one where both do."""
    fitting = [kind for kind in ways.modules if all(_drives(kind, c) for c in found)]
    usual = [kind.kind for kind in fitting if branch >= kind.default_from]
    return next(iter(usual or [kind.kind for kind in fitting]), "proprietary")


def module_clash(machine: Machine, found: tuple[Capability, ...], ways: Ways) -> str:
    """Why no kernel modules drive all of these cards together; "" = some do. Windows (and WSL) has one kind."""
    if machine.os != "linux" or machine.wsl or not found:
        return ""
    if any(all(_drives(kind, c) for c in found) for kind in ways.modules):
        return ""
    oldest, newest = min(found), max(found)
    alone = {c: next((k.kind for k in ways.modules if _drives(k, c)), "no known") for c in (oldest, newest)}
    return (
        f"no kernel modules of NVIDIA drive all of these on Linux: {oldest} needs the {alone[oldest]} ones, "
        f"{newest} the {alone[newest]} ones"
    )


def _drives(kind: ModuleKind, capability: Capability) -> bool:
    above = kind.first is None or capability >= kind.first
    return above and (kind.last is None or capability <= kind.last)
