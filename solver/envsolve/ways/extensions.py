"""Extensions: which torch builds a library with CUDA code of its own leaves over, and the fact that says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.capability import Capability
from envsolve.judge.fit import Blame, Note, Refusal
from envsolve.machine.machine import Machine
from envsolve.rulebook.tables import Build
from envsolve.rulebook.ways_rows import ExtensionPackage, ExtensionWheel
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways.extension_asset import asset_address

UNVERIFIED = "extension-unverified"
_OLDEST = Version("0")


def constraint(requirement: Requirement, build: Build, machine: Machine, ways: Ways) -> Refusal | Note | None:
    """What a requirement says of one build on a machine whose GPUs have their capability.

    None: no library with CUDA code that the rules know, or the user names the file. Refusal: no wheel of it goes with
    this build. Note: the wheel that does and its source (code "extension"), or that nobody knows ("…-unverified").
    """
    package = ways.extension_packages.get(canonicalize_name(requirement.name))
    if package is None or requirement.url is not None:
        return None
    asked = _asked(requirement, package, ways)
    if machine.platform in package.never:
        return _no(package, f"{package.name} has no wheel for {machine.platform} at all", ("extension", "platform"))
    here = [wheel for wheel in asked if machine.platform in wheel.platforms]
    if not here:
        return _unverified(package, requirement, machine)
    fitting = [wheel for wheel in here if fits(wheel, build, machine)]
    if fitting:
        return Note(code="extension", text=_found(fitting[0], package, build, machine, ways))
    if build.accelerator != "cuda":
        return _unverified(package, requirement, machine)
    return _refusal(package, requirement, here, build, machine)


def _asked(requirement: Requirement, package: ExtensionPackage, ways: Ways) -> list[ExtensionWheel]:
    wheels = ways.extension_wheels.get(canonicalize_name(package.name), ())
    return [w for w in wheels if w.version is None or requirement.specifier.contains(w.version, prereleases=True)]


def fits(wheel: ExtensionWheel, build: Build, machine: Machine) -> bool:
    """Whether a wheel goes with a build, the machine's Python and all its GPUs."""
    return (
        wheel.torch.contains(build.torch, prereleases=True)
        and takes_variant(wheel.variants, build.variant)
        and _takes_python(wheel, machine)
        and not unserved(wheel, machine)
    )


def address_of(requirement: Requirement, build: Build, machine: Machine, ways: Ways) -> str:
    """Where the wheel is that `constraint` tells of, if it is on no index: a file or a page of files; "" otherwise."""
    package = ways.extension_packages.get(canonicalize_name(requirement.name))
    if package is None or requirement.url is not None:
        return ""
    here = [wheel for wheel in _asked(requirement, package, ways) if machine.platform in wheel.platforms]
    fitting = next((wheel for wheel in here if fits(wheel, build, machine)), None)
    return asset_address(fitting, package, build, machine.python or "", ways) if fitting else ""


def takes_variant(variants: Sequence[str], variant: str) -> bool:
    """Whether "cu126" is among ("cu126",), ("cu12",) or ("any",)."""
    return "any" in variants or variant in variants or (variant.startswith("cu") and variant[:4] in variants)


def _takes_python(wheel: ExtensionWheel, machine: Machine) -> bool:
    python = (machine.python or "").removesuffix("t")
    return not python or wheel.python.contains(python, prereleases=True)


def unserved(wheel: ExtensionWheel, machine: Machine) -> list[Capability]:
    """The capabilities of the machine's GPUs that a wheel has no code for."""
    found = {g.compute_capability for g in machine.gpus if g.compute_capability is not None}
    below = {c for c in found if wheel.first is not None and c < wheel.first}
    above = {c for c in found if wheel.last is not None and c > wheel.last}
    return sorted(below | above)


def _found(wheel: ExtensionWheel, package: ExtensionPackage, build: Build, machine: Machine, ways: Ways) -> str:
    version = f" {wheel.version}" if wheel.version is not None else ""
    sure = "has a wheel" if wheel.certainty != "low" else "should have a wheel"
    address = asset_address(wheel, package, build, machine.python or "", ways)
    where = f", from {package.home}" if not address else f", {address}"
    if address and not address.endswith(".whl"):
        where = f", on a page of its own: --find-links {address}"
    return f"{package.name}{version} {sure} for torch {build.torch} {build.variant}{where} (source: {wheel.source})"


def _unverified(package: ExtensionPackage, requirement: Requirement, machine: Machine) -> Note:
    more = f"; {package.note}" if package.note else ""
    text = f"{requirement}: no wheel on {machine.platform} is known to the rules ({package.home}{more}): check it"
    return Note(code=UNVERIFIED, text=text)


def _refusal(
    package: ExtensionPackage,
    requirement: Requirement,
    wheels: list[ExtensionWheel],
    build: Build,
    machine: Machine,
) -> Refusal | Note:
    """Say what is in the way: the GPU or the Python where a wheel goes with this torch, else torch itself."""
    near = [w for w in wheels if w.torch.contains(build.torch, prereleases=True)]
    near = [w for w in near if takes_variant(w.variants, build.variant)]
    blocked = [w for w in near if unserved(w, machine)]
    if near and len(blocked) == len(near):
        gpus = " ".join(map(str, unserved(near[0], machine)))
        text = f"{requirement} has no code for {gpus} ({_range(near[0])})"
        return _no(package, text, ("extension", "gpu"), near[0])
    if near:
        text = f"{requirement} has no wheel for Python {machine.python} ({near[0].python})"
        return _no(package, text, ("extension", "python"), near[0])
    newest = max(wheels, key=lambda wheel: wheel.version or _OLDEST)
    version = f" {newest.version}" if newest.version is not None else ""
    goes = f"torch{newest.torch} {' '.join(newest.variants)}"
    text = f"{requirement} has no wheel for it: {package.name}{version} goes with {goes}"
    return _no(package, text, ("extension",), newest)


def _range(wheel: ExtensionWheel) -> str:
    if wheel.last is None:
        return f"{wheel.first} and newer"
    return f"{wheel.first} to {wheel.last}"


def _no(
    package: ExtensionPackage, text: str, blames: tuple[Blame, ...], wheel: ExtensionWheel | None = None
) -> Refusal | Note:
    text = f"{text} (source: {(wheel or package).source})"
    if package.refuses:
        return Refusal(code="companion-mismatch", text=text, blames=blames)
    more = f"; {package.note}" if package.note else ""
    return Note(code="extension-missing", text=text + more)


def known(requirements: Iterable[Requirement], ways: Ways) -> tuple[Requirement, ...]:
    """Those of some requirements that are libraries with CUDA code of their own."""
    return tuple(r for r in requirements if canonicalize_name(r.name) in ways.extension_packages)
