"""Wanted: the request's requirements, read for the torch family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.resolve.request import TRIO, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of the torch family: specifiers by name (torch is always there), pinned labels, and the rest."""

    specs: Mapping[str, SpecifierSet]
    texts: tuple[str, ...]  # the user's words for the family, where they limit anything
    labels: frozenset[str]
    others: tuple[Requirement, ...]

    @property
    def companions(self) -> tuple[str, ...]:
        return tuple(name for name in TRIO[1:] if name in self.specs)

    @property
    def exact(self) -> bool:
        """Torch is pinned to one version."""
        return any(s.operator in ("==", "===") and not s.version.endswith("*") for s in self.specs["torch"])

    def accepts(self, name: str, version: Version, variant: str) -> bool:
        """Whether the user's specifiers take this version, with or without the variant as its label."""
        spec = self.specs[name]
        if spec.contains(version, prereleases=True):
            return True
        return bool(self.labels) and spec.contains(f"{version}+{variant}", prereleases=True)


def read_wanted(request: Request) -> Wanted:
    """Sort the requirements of a request; the same name twice means both. Raises InputError for a bad wheel URL."""
    specs: dict[str, SpecifierSet] = {"torch": SpecifierSet()}
    texts: list[str] = []
    others: list[Requirement] = []
    for requirement in request.requirements:
        name = canonicalize_name(requirement.name)
        if name not in TRIO:
            others.append(requirement)
            continue
        spec = _specifier(requirement)
        specs[name] = specs.get(name, SpecifierSet()) & spec
        if str(spec):
            texts.append(f"{name}{spec}")
    return Wanted(specs=specs, texts=tuple(texts), labels=_labels(specs), others=tuple(others))


def _specifier(requirement: Requirement) -> SpecifierSet:
    if requirement.url is None:
        return requirement.specifier
    filename = requirement.url.split("#")[0].split("?")[0].rsplit("/", 1)[-1].replace("%2B", "+").replace("%2b", "+")
    try:
        _, version, _, _ = parse_wheel_filename(filename)
    except InvalidWheelFilename as error:
        raise InputError(
            f"{requirement.name} @ {requirement.url} is not the address of a wheel", hint=f"{requirement.name}==VERSION"
        ) from error
    return SpecifierSet(f"=={version}")


def _labels(specs: Mapping[str, SpecifierSet]) -> frozenset[str]:
    return frozenset(s.version.split("+", 1)[1] for spec in specs.values() for s in spec if "+" in s.version)
