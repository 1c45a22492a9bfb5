"""The interpreter, the installed versions, the files of the torch family, and its requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsolve.verify.expected import Expected
from envsolve.verify.facts import Dist, FileState, Survey
from envsolve.verify.report import Check

FAMILY = ("torch", "torchvision", "torchaudio")
_REFILL = "make it anew from its lock: envsolve install --replace"
_TOGETHER = "install a set that belongs together: envsolve install --name NAME"


def interpreter(survey: Survey, expected: Expected) -> Check:
    """The Python minor is the one that the plan was made for."""
    seen = ".".join(survey.python.split(".")[:2])
    ok = not expected.python or seen == ".".join(expected.python.split(".")[:2])
    return Check(
        name="interpreter",
        outcome="passed" if ok else "failed",
        expected=f"Python {expected.python or 'of any version'}",
        seen=f"Python {survey.python}",
        hint="" if ok else _REFILL,
    )


def versions(survey: Survey, expected: Expected) -> Check:
    """Every promised package is there at its version; the local label counts where one was promised."""
    found = survey.versions()
    family = ", ".join(f"{name} {found[name]}" for name in FAMILY if name in found)
    if not expected.locked:
        return Check(name="versions", outcome="skipped", expected="no lock says which", seen=family)
    wrong = [
        f"{name} {found.get(name, 'missing')} (promised {version})"
        for name, version in expected.versions.items()
        if not same_version(version, found.get(canonicalize_name(name), ""))
    ]
    return Check(
        name="versions",
        outcome="failed" if wrong else "passed",
        expected=f"{len(expected.versions)} packages at the versions that were promised",
        seen="; ".join(wrong) or f"all of them: {family}",
        hint=_REFILL if wrong else "",
    )


def same_version(promised: str, seen: str) -> bool:
    """Equal as PEP 440 versions; a promise without a local label takes any label."""
    try:
        want, have = Version(promised), Version(seen)
    except InvalidVersion:
        return promised == seen
    return want == (have if want.local else Version(have.public))


def torch_files(survey: Survey, expected: Expected) -> Check:
    """One torch alone is installed, and the files of the family are those of their wheels, its libraries too."""
    faults = list(_duplicates(survey.dists))
    for state in survey.files:
        faults += [f"{state.name}: {fault}" for fault in state.wrong]
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return Check(
        name="files",
        outcome="failed" if faults else "passed",
        expected="one torch, and every file of the torch family, and library that it requires, as its wheel brought it",
        seen="; ".join(faults[:3]) + more if faults else _what_was_compared(survey.files),
        hint=_remake(expected) if faults else "",
    )


def _remake(expected: Expected) -> str:
    return _REFILL if expected.locked else _TOGETHER


def _duplicates(dists: tuple[Dist, ...]) -> Iterator[str]:
    for name in FAMILY:
        twice = [dist for dist in dists if dist.name == name]
        if len(twice) > 1:
            yield f"{name} is installed {len(twice)} times: {', '.join(d.version for d in twice)}"


def _what_was_compared(states: tuple[FileState, ...]) -> str:
    family = [s for s in states if s.name in FAMILY]
    compared = ", ".join(f"{s.name} {s.checked} files" for s in family if s.record)
    libraries = sum(s.checked for s in states if s.name not in FAMILY)
    compared += f"; {libraries} libraries that they require" if libraries else ""
    without = ", ".join(s.name for s in family if not s.record)
    return "; ".join(
        part for part in (compared and f"{compared}", without and f"{without}: no RECORD to compare with") if part
    )


def requirements(survey: Survey, expected: Expected) -> Check:
    """What the installed torch family asks for is installed."""
    found = survey.versions()
    wrong = [
        f"{dist.name} {dist.version} needs {need}, but {found.get(canonicalize_name(need.name), 'none')} is installed"
        for dist in survey.dists
        if dist.name in FAMILY
        for need in _needs(dist, survey.markers)
        if not _met(need, found)
    ]
    return Check(
        name="requirements",
        outcome="failed" if wrong else "passed",
        expected="what torch, torchvision and torchaudio require is installed",
        seen="; ".join(wrong) or "all of it",
        hint=_remake(expected) if wrong else "",
    )


def _needs(dist: Dist, markers: Mapping[str, str]) -> Iterator[Requirement]:
    for text in dist.requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        if need.marker is None or need.marker.evaluate({**markers, "extra": ""}):
            yield need


def _met(need: Requirement, found: Mapping[str, str]) -> bool:
    version = found.get(canonicalize_name(need.name))
    try:
        return version is not None and need.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return True
