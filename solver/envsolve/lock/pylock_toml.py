"""pylock.toml (PEP 751): every file with address, hash and size; pip >= 26.1 and uv install from it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packaging.markers import Marker
from packaging.pylock import (
    Package,
    PackageSdist,
    PackageWheel,
    Pylock,
    PylockUnsupportedVersionError,
    PylockValidationError,
)
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envsolve import __version__
from envsolve.errors import InputError
from envsolve.lock.addresses import check_addresses, filename_of
from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader, is_sdist
from envsolve.lock.markers import tell_apart
from envsolve.lock.newer import NewerLockError, newer_error
from envsolve.lock.pins import Pin, packages_at, pins_of, place_of
from envsolve.lock.toml_text import toml_text

_ADVICE = "# made by envsolve; to change it, run the command of [tool.envsolve] again\n"
_TARGET_KEYS = frozenset(
    ("target", "platform", "python", "variant", "index", "gpus", "rules", "portable", "local", "passed-over")
)
_TOOL_KEYS = frozenset(("version", "command", "targets"))
_PACKAGE_KEYS = frozenset(("direct", "via", "hashed-here"))


def write(*locks: Lock) -> str:
    """The text of the lock, or of several in one, each package with the marker of the targets that take it.

    The same locks give the same bytes. Raises InputError where markers can't tell the targets apart.
    """
    pins = pins_of(locks)
    check_addresses((pin.package for pin in pins), "a pylock.toml")
    pylock = Pylock(
        lock_version=Version("1.0"),
        environments=[Marker(marker) for marker in tell_apart([place_of(lock) for lock in locks])],
        requires_python=_requires_python([lock.python.rstrip("t") for lock in locks]),
        created_by="envsolve",
        packages=[_package(pin, pins) for pin in pins],
        tool={"envsolve": _tool(locks)},
    )
    pylock.validate()
    return _ADVICE + toml_text(pylock.to_dict())


def _requires_python(pythons: Sequence[str]) -> SpecifierSet:
    if len(set(pythons)) == 1:
        return SpecifierSet(f"=={pythons[0]}.*")
    ordered = sorted(pythons, key=Version)
    major, minor = ordered[-1].split(".")
    return SpecifierSet(f">={ordered[0]},<{major}.{int(minor) + 1}")


def _package(pin: Pin, pins: Sequence[Pin]) -> Package:
    package = pin.package
    tool: dict[str, Any] = {"direct": package.direct, "via": list(package.via)}
    # Two indexes may have files of one name: it is said once.
    hashed_here = list(dict.fromkeys(file.filename for file in package.files if file.hashed_here))
    if hashed_here:
        tool["hashed-here"] = hashed_here
    return Package(
        name=NormalizedName(package.name),
        version=package.version,
        marker=Marker(pin.marker) if pin.marker else None,
        dependencies=[entry for name in package.requires for entry in _dependencies(name, pins)] or None,
        wheels=[_wheel(file) for file in package.files if not is_sdist(file.filename)] or None,
        sdist=next((_sdist(file) for file in package.files if is_sdist(file.filename)), None),
        tool={"envsolve": tool},
    )


def _dependencies(name: str, pins: Sequence[Pin]) -> list[dict[str, str]]:
    """How a package is named as a dependency: with its version where the file has several."""
    versions = list(dict.fromkeys(str(pin.package.version) for pin in pins if pin.package.name == name))
    if len(versions) < 2:
        return [{"name": name}]
    return [{"name": name, "version": version} for version in versions]


def _wheel(file: LockedFile) -> PackageWheel:
    # The name is said although the address ends with it: pip 26.2 reads a local version from the name only.
    return PackageWheel(name=file.filename, url=file.url, size=file.size, hashes={"sha256": file.sha256})


def _sdist(file: LockedFile) -> PackageSdist:
    return PackageSdist(name=file.filename, url=file.url, size=file.size, hashes={"sha256": file.sha256})


def _tool(locks: Sequence[Lock]) -> dict[str, Any]:
    header = locks[0].header
    head = {"version": header.envsolve, "command": header.command}
    if len(locks) == 1:
        return {**head, **_target(locks[0])}
    return {**head, "targets": [_target(lock) for lock in locks]}


def _target(lock: Lock) -> dict[str, Any]:
    header = lock.header
    return {
        "target": header.target,
        "platform": lock.platform,
        "python": lock.python,
        "variant": lock.variant,
        "index": lock.index_url,
        "gpus": list(header.gpus),
        "rules": header.rules,
        "portable": header.portable,
        "local": list(header.local),
        "passed-over": list(header.passed_over),
    }


def read(text: str, *, what: str = "the lock") -> Lock:
    """The Lock behind a text that holds one. Raises InputError as `read_all`, and where there are several."""
    locks = read_all(text, what=what)
    if len(locks) > 1:
        raise InputError(f"{what} holds locks for {len(locks)} targets")
    return locks[0]


def read_all(text: str, *, what: str = "the lock") -> tuple[Lock, ...]:
    """The locks behind a pylock.toml of envsolve's, in its order; `what` names it in errors.

    Raises InputError for what is not TOML, breaks PEP 751, was made by another tool, or by a newer envsolve that put
    more into it.
    """
    try:
        document = tomllib.loads(text)
        pylock = Pylock.from_dict(document)
    except PylockUnsupportedVersionError as error:
        raise NewerLockError(f"{what}: {error}") from error
    except (tomllib.TOMLDecodeError, PylockValidationError) as error:
        raise InputError(f"{what}: {error}") from error
    if pylock.created_by != "envsolve":
        raise InputError(f"{what} was made by {pylock.created_by}", hint="envsolve lock -o pylock.toml")
    if str(pylock.lock_version) != "1.0":
        raise NewerLockError(f"{what} has lock-version {pylock.lock_version}, and 1.0 is known")
    try:
        tool = document["tool"]["envsolve"]
        _check_keys(tool, pylock, what)
        return tuple(_locks(pylock, tool))
    except (KeyError, TypeError) as error:
        raise InputError(f"{what}: [tool.envsolve] lacks {error}", hint="envsolve lock -o pylock.toml") from error


def _check_keys(tool: Mapping[str, Any], pylock: Pylock, what: str) -> None:
    """Raises InputError for keys that this envsolve doesn't know."""
    targets = tool.get("targets", [])
    unknown = [key for key in tool if key not in _TOOL_KEYS | _TARGET_KEYS]
    unknown += [key for target in targets for key in target if key not in _TARGET_KEYS]
    unknown += [key for p in pylock.packages for key in (p.tool or {}).get("envsolve", {}) if key not in _PACKAGE_KEYS]
    if unknown:
        keys = ", ".join(repr(key) for key in dict.fromkeys(unknown))
        raise newer_error(what, tool["version"], unknown, __version__) or InputError(
            f"{what}: [tool.envsolve] has unknown keys: {keys}", hint="envsolve lock -o pylock.toml"
        )


def _locks(pylock: Pylock, tool: Mapping[str, Any]) -> Iterator[Lock]:
    pins = [_pin(package) for package in pylock.packages]
    for target in tool.get("targets", [tool]):
        place = (target["platform"], target["python"])
        yield Lock(
            header=LockHeader(
                command=tool["command"],
                target=target["target"],
                gpus=tuple(target["gpus"]),
                rules=target["rules"],
                envsolve=tool["version"],
                portable=target["portable"],
                local=tuple(target["local"]),
                passed_over=tuple(target["passed-over"]),
            ),
            python=target["python"],
            platform=target["platform"],
            variant=target["variant"],
            index_url=target["index"],
            packages=packages_at(pins, place),
        )


def _pin(package: Package) -> Pin:
    tool: Mapping[str, Any] = (package.tool or {})["envsolve"]
    hashed_here = set(tool.get("hashed-here", ()))
    files = [*(package.wheels or ()), *((package.sdist,) if package.sdist else ())]
    locked = LockedPackage(
        name=package.name,
        version=package.version or Version("0"),
        files=_in_order([_file(file, hashed_here) for file in files], mixed=package.sdist is not None),
        direct=tool["direct"],
        via=tuple(tool["via"]),
        requires=tuple(dict.fromkeys(dependency["name"] for dependency in package.dependencies or ())),
    )
    return Pin(package=locked, marker=str(package.marker or ""))


def _in_order(files: list[LockedFile], *, mixed: bool) -> tuple[LockedFile, ...]:
    """A source archive stands apart from the wheels in the file; in a Lock files go by name."""
    return tuple(sorted(files, key=lambda file: (file.filename, file.url)) if mixed else files)


def _file(file: PackageWheel | PackageSdist, hashed_here: set[str]) -> LockedFile:
    url = file.url or ""
    filename = file.name or filename_of(url)
    return LockedFile(
        filename=filename,
        url=url,
        sha256=file.hashes["sha256"],
        size=file.size,
        hashed_here=filename in hashed_here,
    )
