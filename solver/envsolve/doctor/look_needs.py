"""Needs: what torch and its companions require, by their own metadata, and don't have beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.look_files import Dist


def unmet(dists: Sequence[Dist], names: Collection[str], python: str) -> Iterator[Symptom]:
    """What these packages require and is missing, or there at another version, as messages.

    `python` is the environment's, like "3.12". conda resolves by its own metadata: what it installed is passed over.
    """
    present = {dist.name: dist.version for dist in reversed(dists)}
    environment = marker_environment(python)
    for name in names:
        first = next((dist for dist in dists if dist.name == name), None)
        if first is not None and first.installer != "conda":
            yield from _of_dist(first, present, environment)


def marker_environment(python: str) -> dict[str, str]:
    """What markers are held to, with the environment's Python, and no extra."""
    here = {key: str(value) for key, value in default_environment().items()}
    plain = python.rstrip("t")  # a thread-free Python ("3.13t") is 3.13 to a marker
    versions = {"python_version": plain, "python_full_version": f"{plain}.0"} if plain else {}
    return {**here, **versions, "extra": ""}


def _of_dist(dist: Dist, present: Mapping[str, str], environment: dict[str, str]) -> Iterator[Symptom]:
    for line in dist.requires:
        try:
            need = Requirement(line)
        except InvalidRequirement:
            continue  # nobody can say whether it is met
        if need.marker is not None and not need.marker.evaluate(environment):
            continue
        there = present.get(canonicalize_name(need.name), "")
        if not there or not _meets(there, need):
            wanted = f"{need.name}{need.specifier}"
            what = f"{there} is installed" if there else "it is not installed"
            yield Symptom(
                name="unmet-need",
                text=f"{dist.name} {dist.version} requires {wanted}, {what}",
                line=0,
                groups={"of": dist.name, "package": need.name, "wanted": wanted, "there": there},
            )


def _meets(version: str, need: Requirement) -> bool:
    try:
        return need.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True
