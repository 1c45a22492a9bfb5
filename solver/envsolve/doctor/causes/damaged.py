"""Damaged: what was installed is no longer there as it was, or never came whole."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.evidence import Damage
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import variant_of_label
from envsolve.doctor.write import finding, fix

_FAILED = ("error-line", "load-failed", "no-shared-object", "other-module")
_FINE = {
    "python": "its packages are still there: they tell what was installed",
    "files": "driver and GPU are not to blame",
    "needs": "driver and GPU are not to blame",
    "access": "what is installed may be right",
    "twice": "driver and GPU are not to blame",
}


def damaged(s: Situation) -> Finding | None:
    """The first thing that is missing; the others are shown."""
    if not s.evidence.damage:
        return None
    first = s.evidence.damage[0]
    return finding(
        s,
        "damaged-install",
        first.text,
        shown=s.evidence.all(*_FAILED)[:2],
        more=[other.text for other in s.evidence.damage[1:]],
        fixes=_fixes(s, first),
        fine=[_FINE[first.kind]],
        elsewhere=_hides_all(first),
    )


def _fixes(s: Situation, first: Damage) -> Iterator[Fix]:
    anew = shlex.join(["envsolve", "doctor", *s.evidence.options, "--fix"])
    if first.kind == "access":
        yield fix("have its owner open it", shlex.join(["chmod", "-R", "a+rX", first.what]))
        if not _hides_all(first):
            yield fix("or make a new environment from the same requirements beside it", anew)
        return
    if first.kind == "python":
        python = s.machine.python or "VERSION"
        yield fix("make a new environment from the same requirements beside it", anew)
        yield fix(f"or have that Python there again: {python}, in {first.what}")
        return
    yield _added(s) if first.kind == "needs" else _reinstalled(s, first)
    yield fix("or make a new environment from the same requirements beside it", anew)


def _hides_all(damage: Damage) -> bool:
    """Whether nobody can tell what is installed: what was asked for would be lost in a new environment."""
    return damage.kind == "access" and damage.what.endswith("-packages")


def _added(s: Situation) -> Fix:
    """All that is missed, in one command."""
    names = dict.fromkeys(damage.what for damage in s.evidence.damage if damage.kind == "needs")
    return fix("install what is missing", shlex.join(["pip", "install", *names]))


def _reinstalled(s: Situation, damage: Damage) -> Fix:
    """The same files again: those of the version and build that is there."""
    package = damage.what
    row = s.evidence.installed.get(package)
    if row is None:
        return fix("install it again", shlex.join(["pip", "install", package]))
    variant = variant_of_label(row.label) or (s.torch.variant if package == "torch" and s.torch.certain else "")
    words = ["pip", "install", "--force-reinstall", "--no-deps", f"{package}=={row.version}"]
    again = shlex.join([*words, *(["--index-url", f"{PYTORCH_INDEX}/{variant}"] if variant else [])])
    if damage.kind == "twice":
        return fix("remove both, then install one", *[f"pip uninstall {package}"] * 2, again)
    return fix("unpack the same files again", again)
