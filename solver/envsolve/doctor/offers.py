"""Offers: what an index has for a Python, and what the versions that it offers tell of the Python. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from envsolve.doctor.failed import Failed
from envsolve.doctor.situation import Situation
from envsolve.dotted import Dotted
from envsolve.judge.host import minor_of, python_refusal
from envsolve.rulebook.tables import Build


def builds_for(s: Situation, version: Version | None, unmet: Failed) -> list[Build]:
    """The builds on this platform that a requirement of torch allows."""
    builds = s.rulebook.builds_on(s.machine.platform)
    if version is not None:
        return [b for b in builds if b.torch == version]
    return [b for b in builds if unmet.specifier is None or unmet.specifier.contains(b.torch)]


def python_serves(s: Situation, builds: Sequence[Build]) -> bool:
    """Whether this Python has a file of one of these builds; True where either is unknown."""
    python = s.machine.python
    return python is None or not builds or any(python_refusal(b, python) is None for b in builds)


def python_is_extreme(s: Situation) -> bool:
    """Whether this Python is so new, or so old, that a report of "no version at all" is most likely its fault."""
    if s.machine.python is None:
        return False
    below, since = s.facts.extreme_pythons
    minor = minor_of(s.machine.python)
    return minor >= since or minor < below


def offer_tells_python(s: Situation, unmet: Failed, asked: Sequence[Build]) -> bool:
    """Whether what is offered instead belongs to a Python that the wanted release has no file for.

    The lowest torch that an index offers grows with the Python, the highest shrinks with an old one.
    """
    if not unmet.offered or unmet.version is None:
        return False
    if s.machine.python and asked and python_serves(s, asked):
        return False  # it is known, and has a file
    if unmet.version < unmet.offered[0]:
        return True
    if unmet.version > unmet.offered[-1] and asked:
        lasts = [p for p in _pythons(s) if _newest(s, p) == unmet.offered[-1]]
        return bool(lasts) and not any(_has(p, b) for p in lasts for b in asked)
    return False


def python_by_offer(s: Situation, unmet: Failed) -> Dotted | None:
    """The Python whose lowest torch on this platform is the lowest one offered; None where it is known or unclear."""
    if not unmet.offered or s.machine.python or unmet.name != "torch":
        return None
    builds = s.rulebook.builds_on(s.machine.platform)
    for python in reversed(_pythons(s)):
        if min((b.torch for b in builds if _has(python, b)), default=None) == unmet.offered[0]:
            return python
    return None


def _pythons(s: Situation) -> list[Dotted]:
    return sorted({p for b in s.rulebook.builds_on(s.machine.platform) for p in b.python})


def _newest(s: Situation, python: Dotted) -> Version | None:
    return max((b.torch for b in s.rulebook.builds_on(s.machine.platform) if _has(python, b)), default=None)


def _has(python: Dotted, build: Build) -> bool:
    return build.python[0] <= python <= build.python[1]
