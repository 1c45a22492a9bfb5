"""Project: whether the user's own project agrees with a lock, before anything is fetched."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.environment.order import torch_version
from envsolve.errors import InputError, RefusedError
from envsolve.lock.lock import Lock
from envsolve.lock.pyproject_in import parse


def check_project(project: Path, lock: Lock) -> tuple[str, ...]:
    """What is worth a note about a project that is to be installed beside a lock, without what it requires.

    Raises InputError (no project there), RefusedError (what it requires contradicts the lock).
    """
    file = project / "pyproject.toml"
    if not file.is_file():
        if (project / "setup.py").is_file() or (project / "setup.cfg").is_file():
            return (f"{project} has no pyproject.toml: what it requires is not checked against the lock",)
        raise InputError(f"{project} holds no Python project (no pyproject.toml)", hint="--with-project DIR")
    wishes = parse(_text(file), origin=str(file))
    python = next((s for _, s in wishes.pythons if not s.contains(f"{lock.python.rstrip('t')}.99")), None)
    if python is not None:
        raise RefusedError(
            f"{file} requires Python {python}, and the lock is for {lock.python}", hint=f"envsolve lock -r {file}"
        )
    wrong = [
        f"{file} requires {req}, and the lock has {has}" for req, has in _contradictions(wishes.requirements, lock)
    ]
    if wrong:
        raise RefusedError("; ".join(wrong), hint=f"envsolve lock -r {file} makes a lock that fits the project")
    return _notes(wishes.requirements, lock)


def _contradictions(requirements: tuple[Requirement, ...], lock: Lock) -> list[tuple[Requirement, Version]]:
    versions = _versions(lock)
    return [
        (requirement, has)
        for requirement in requirements
        if _counts(requirement, lock) and (has := versions.get(canonicalize_name(requirement.name)))
        if not requirement.specifier.contains(has, prereleases=True)
    ]


def _notes(requirements: tuple[Requirement, ...], lock: Lock) -> tuple[str, ...]:
    versions = _versions(lock)
    lacking = [str(r) for r in requirements if _counts(r, lock) and canonicalize_name(r.name) not in versions]
    return (f"the lock lacks what the project requires: {', '.join(lacking)}",) if lacking else ()


def _counts(requirement: Requirement, lock: Lock) -> bool:
    """Whether a requirement is for the lock's Python; other markers are read on this machine."""
    python = lock.python.rstrip("t")
    here = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    return requirement.marker is None or requirement.marker.evaluate(here)


def _versions(lock: Lock) -> dict[str, Version]:
    """Versions by canonical name, torch's with its label."""
    found = {package.name: package.version for package in lock.packages}
    torch = torch_version(lock)
    return {**found, "torch": Version(torch)} if torch else found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {file}: {error}") from error
