"""Wanted: the request's requirements, read for the torch family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from packaging.requirements import Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.record import record
from envsolve.resolve.request import TRIO, Request

_EXACT = ("==", "===")


@record
class Wanted:
    """What is asked of the torch family: specifiers by name (torch is always there), pinned labels, and the rest.

    `numpy` is what requirements and constraints together ask of NumPy; None = nothing.
    """

    specs: Mapping[str, SpecifierSet]
    texts: tuple[str, ...]  # the user's words for the family, where they limit anything
    labels: frozenset[str]
    others: tuple[Requirement, ...]
    numpy: SpecifierSet | None = None

    @property
    def companions(self) -> tuple[str, ...]:
        return tuple(name for name in TRIO[1:] if name in self.specs)

    @property
    def exact(self) -> bool:
        """Torch is pinned to one version."""
        return bool(self.exact_torch)

    @property
    def exact_torch(self) -> str:
        """The public version that torch is pinned to; "" where it is not pinned to one."""
        pins = (s.version for s in self.specs["torch"] if s.operator in _EXACT and not s.version.endswith(".*"))
        return next(pins, "").split("+")[0]

    def accepts(self, name: str, version: Version, variant: str) -> bool:
        """Whether the user's specifiers take this version; a label in them is compared with the variant."""
        return all(_takes(specifier, version, variant) for specifier in self.specs[name])

    def accepts_variant(self, variant: str) -> bool:
        """Whether the labels in the pins leave this variant to torch: a companion's label binds torch too."""
        return all(variant in labels for spec in self.specs.values() if (labels := _labels((spec,))))


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
    numpy = _numpy((*others, *request.constraints)) if others or request.constraints else None
    return Wanted(specs=specs, texts=tuple(texts), labels=_labels(specs.values()), others=tuple(others), numpy=numpy)


def _takes(specifier: Specifier, version: Version, variant: str) -> bool:
    if "+" in specifier.version:
        return specifier.contains(f"{version}+{variant}", prereleases=True)
    return specifier.contains(version, prereleases=True)


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


def _labels(specs: Iterable[SpecifierSet]) -> frozenset[str]:
    """The labels of exact pins: !=2.9.0+cu130 asks for no variant."""
    pins = (s.version for spec in specs for s in spec if s.operator in _EXACT)
    return frozenset(pin.split("+", 1)[1] for pin in pins if "+" in pin)


def _numpy(requirements: Iterable[Requirement]) -> SpecifierSet | None:
    found: SpecifierSet | None = None
    for requirement in requirements:
        if canonicalize_name(requirement.name) == "numpy":
            found = requirement.specifier if found is None else found & requirement.specifier
    return found
