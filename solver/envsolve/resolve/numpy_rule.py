"""NumPy 2 under an old torch: builds made for NumPy 1 need it, whatever their metadata says."""

from __future__ import annotations

from packaging.requirements import Requirement

from envsolve.judge.fit import Refusal
from envsolve.resolve.wanted import Wanted
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build

# Every NumPy 1 that a specifier could mean: a grid to probe it with, not a list of releases.
_ONES = tuple(f"1.{minor}.{patch}" for minor in range(26, 7, -1) for patch in range(7))


def numpy_cap(build: Build, rulebook: Rulebook) -> Requirement | None:
    """What the rules say this torch requires of NumPy ("numpy<2"); None = any NumPy will do."""
    rule = rulebook.numpy_rule(build.torch, build.platform)
    return Requirement(rule.requires) if rule is not None else None


def numpy_refusal(build: Build, wanted: Wanted, rulebook: Rulebook) -> Refusal | None:
    """Refused when the user's own numpy requirement leaves no NumPy 1 for a build that needs one."""
    if wanted.numpy is None or not str(wanted.numpy):
        return None
    cap = numpy_cap(build, rulebook)
    if cap is None or any(wanted.numpy.contains(v) and cap.specifier.contains(v) for v in _ONES):
        return None
    text = f"torch {build.torch} was built for NumPy 1, numpy{wanted.numpy} leaves none"
    return Refusal(code="companion-mismatch", text=text, blames=("pin",))
