"""From a closure to a Lock: pins, hashes and the header."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.tags import Tag

from envsolve import __version__
from envsolve.dotted import Dotted
from envsolve.index.release import ReleaseFile
from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader
from envsolve.regex import regex
from envsolve.resolve.closure import ClosedPackage, Closure
from envsolve.resolve.plan import Plan
from envsolve.resolve.protocol import Index

_GLIBC = regex(r"manylinux_2_(\d+)_")
_LEGACY = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}


def make_lock(
    plan: Plan, closure: Closure, index: Index, *, command: str, rules: str, passed_over: tuple[str, ...] = ()
) -> Lock:
    """The Lock of a closure. `command` is the line that makes it again, `rules` the hash of the rules, `passed_over`
    names planned releases that no place had.

    Files without a hash on the index are read once through `index` and marked. Raises OutsideError if that fails.
    """
    packages = tuple(_package(package, index) for package in closure.packages)
    local = tuple(package.name for package in packages if not _elsewhere(package))
    header = LockHeader(
        command=command,
        target=_target(plan, closure),
        gpus=tuple(_gpu_line(fit.gpu, fit.verdict, fit.code) for fit in plan.fits),
        rules=rules,
        envsolve=__version__,
        portable=not local,
        local=local,
        passed_over=(*passed_over, *closure.passed_over),
    )
    return Lock(
        header=header,
        python=closure.env.python,
        platform=plan.machine.platform,
        variant=plan.variant,
        index_url=plan.index_url,
        packages=packages,
    )


def _elsewhere(package: LockedPackage) -> bool:
    """Whether another machine can get the package: some file of it is not on this one's disk."""
    return any(not file.url.startswith("file:") for file in package.files)


def _gpu_line(gpu: str, verdict: str, code: str) -> str:
    return f"{gpu}: {verdict} {code}".rstrip()


def _package(package: ClosedPackage, index: Index) -> LockedPackage:
    # An installer takes the one file whose address is given, or whichever file of the version fits it best.
    files = package.files[:1] if package.direct else package.files
    return LockedPackage(
        name=package.name,
        version=package.version,
        files=tuple(sorted((_file(file, index) for file in files), key=lambda file: (file.filename, file.url))),
        direct=package.direct,
        via=package.via,
        requires=package.requires,
        taken=package.files[0].filename,
    )


def _file(file: ReleaseFile, index: Index) -> LockedFile:
    return LockedFile(
        filename=file.filename,
        url=file.url if file.has_address else "",
        sha256=file.sha256 or index.hash_file(file),
        size=file.size,
        hashed_here=file.sha256 is None,
    )


def _target(plan: Plan, closure: Closure) -> str:
    parts = [f"{plan.machine.os} {plan.machine.arch}"]
    if plan.machine.os == "linux":
        parts.append(f"glibc >= {lowest_glibc(closure)}")
    return ", ".join([*parts, f"python {closure.env.python}", plan.variant])


def lowest_glibc(closure: Closure) -> Dotted:
    """The glibc that a machine must have so that each package has at least one wheel for it."""
    minors = [min(_glibc_minor(file.tags) for file in package.files) for package in closure.packages]
    return Dotted.parse(f"2.{max(minors, default=0)}")


def _glibc_minor(tags: Iterable[Tag]) -> int:
    return min((_tag_minor(tag.platform) for tag in tags), default=0)  # a source archive has no tags


def _tag_minor(platform: str) -> int:
    found = _GLIBC.match(platform)
    if found:
        return int(found[1])
    return _LEGACY.get(platform.split("_", 1)[0], 0)
