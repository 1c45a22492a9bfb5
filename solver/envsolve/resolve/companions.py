"""Companions: the torchvision and torchaudio that go with a build. The rules' table outranks the wheels' metadata."""

from __future__ import annotations

from packaging.version import Version

from envsolve.judge.fit import Refusal
from envsolve.judge.host import minor_of
from envsolve.record import record
from envsolve.resolve.row import PlannedPackage
from envsolve.resolve.wanted import Wanted
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build, CompanionBuild

Excluded = frozenset[tuple[str, str, str]]  # (package, public version, variant) known to be absent from the index


@record
class Pairing:
    """One companion of one build: the package to install, or why there is none."""

    package: PlannedPackage | None
    refusal: Refusal | None = None


def pair(
    name: str, build: Build, wanted: Wanted, rulebook: Rulebook, python: str, excluded: Excluded = frozenset()
) -> Pairing:
    """The best version of a companion for a build: known on this variant's index first, then the table's order."""
    row = rulebook.companions.get(build.torch)
    belonging = row.versions.get(name, ()) if row else ()
    if not belonging:
        return _refused(f"no {name} belongs to torch {build.torch}", "companion")
    asked = [v for v in belonging if wanted.accepts(name, v, build.variant)]
    if not asked:
        belongs = " or ".join(str(v) for v in belonging)
        return _refused(f"torch {build.torch} goes with {name} {belongs}, not {name}{wanted.specs[name]}", "pin")
    tried = [_file(name, v, build, rulebook, python, excluded) for v in asked]
    found = [t for t in tried if t.package is not None]
    return max(found, key=_certainty, default=tried[0])


def _certainty(pairing: Pairing) -> bool:
    return pairing.package is not None and pairing.package.certain


def _file(name: str, version: Version, build: Build, rulebook: Rulebook, python: str, excluded: Excluded) -> Pairing:
    if (name, str(version), build.variant) in excluded:
        return _refused(f"{name} {version} is not on the {build.variant} index", "companion")
    on_pypi = not build.folder  # the plain wheels: every companion is there beside its torch, without a label
    known = rulebook.companion_builds(name, version, build.variant, build.platform)
    if known is None:
        if rulebook.companion_listing_complete(name, version) and not on_pypi:
            return _refused(f"{build.variant} has no {name} {version} for {build.platform}", "companion")
        tag = build.local_tag
        return Pairing(package=PlannedPackage(name=name, version=version, local_tag=tag, certain=on_pypi))
    if known.python and not _has_python(known, python):
        return _refused(f"{name} {version} has no wheel for Python {python}", "python")
    return Pairing(
        package=PlannedPackage(
            name=name,
            version=version,
            local_tag=known.local_tag and not on_pypi,
            certain=on_pypi or known.certainty != "low",
        )
    )


def _has_python(known: CompanionBuild, python: str) -> bool:
    return minor_of(python) in (known.freethreaded if python.endswith("t") else known.python)


def _refused(text: str, blame: str) -> Pairing:
    blames = {"pin": ("pin",), "python": ("python", "companion"), "companion": ("companion",)}[blame]
    return Pairing(package=None, refusal=Refusal(code="companion-mismatch", text=text, blames=blames))  # type: ignore[arg-type]
