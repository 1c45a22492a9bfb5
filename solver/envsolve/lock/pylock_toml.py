"""pylock.toml (PEP 751): every file with address, hash and size; pip >= 26.1 and uv install from it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from packaging.markers import Marker
from packaging.pylock import Package, PackageWheel, Pylock, PylockValidationError
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader
from envsolve.lock.toml_text import toml_text

_PLATFORM_MARKERS = {
    "linux_x86_64": "sys_platform == 'linux' and platform_machine == 'x86_64'",
    "linux_aarch64": "sys_platform == 'linux' and platform_machine == 'aarch64'",
    "windows_amd64": "sys_platform == 'win32' and platform_machine == 'AMD64'",
    "windows_arm64": "sys_platform == 'win32' and platform_machine == 'ARM64'",
    "macos_arm64": "sys_platform == 'darwin' and platform_machine == 'arm64'",
    "macos_x86_64": "sys_platform == 'darwin' and platform_machine == 'x86_64'",
}
_ADVICE = "# made by envsolve; to change it, run the command of [tool.envsolve] again\n"


def write(lock: Lock) -> str:
    """The text of the lock; the same lock gives the same bytes."""
    pylock = Pylock(
        lock_version=Version("1.0"),
        environments=[Marker(_PLATFORM_MARKERS[lock.platform])],
        requires_python=SpecifierSet(f"=={lock.python.rstrip('t')}.*"),
        created_by="envsolve",
        packages=[_package(package) for package in lock.packages],
        tool={"envsolve": _tool(lock)},
    )
    pylock.validate()
    return _ADVICE + toml_text(pylock.to_dict())


def _package(package: LockedPackage) -> Package:
    tool: dict[str, Any] = {"direct": package.direct, "via": list(package.via)}
    hashed_here = [file.filename for file in package.files if file.hashed_here]
    if hashed_here:
        tool["hashed-here"] = hashed_here
    return Package(
        name=NormalizedName(package.name),
        version=package.version,
        dependencies=[{"name": name} for name in package.requires] or None,
        wheels=[_wheel(file) for file in package.files],
        tool={"envsolve": tool},
    )


def _wheel(file: LockedFile) -> PackageWheel:
    # The name is said although the address ends with it: pip 26.2 reads a local version from the name only.
    return PackageWheel(name=file.filename, url=file.url, size=file.size, hashes={"sha256": file.sha256})


def _tool(lock: Lock) -> dict[str, Any]:
    header = lock.header
    return {
        "version": header.envsolve,
        "command": header.command,
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
    """The Lock behind a pylock.toml of envsolve's; `what` names it in errors.

    Raises InputError for what is not TOML, breaks PEP 751, or was made by another tool.
    """
    try:
        document = tomllib.loads(text)
        pylock = Pylock.from_dict(document)
    except (tomllib.TOMLDecodeError, PylockValidationError) as error:
        raise InputError(f"{what}: {error}") from error
    if pylock.created_by != "envsolve":
        raise InputError(f"{what} was made by {pylock.created_by}", hint="envsolve lock -o pylock.toml")
    try:
        return _lock(pylock, document["tool"]["envsolve"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{what}: [tool.envsolve] lacks {error}", hint="envsolve lock -o pylock.toml") from error


def _lock(pylock: Pylock, tool: Mapping[str, Any]) -> Lock:
    return Lock(
        header=LockHeader(
            command=tool["command"],
            target=tool["target"],
            gpus=tuple(tool["gpus"]),
            rules=tool["rules"],
            envsolve=tool["version"],
            portable=tool["portable"],
            local=tuple(tool["local"]),
            passed_over=tuple(tool["passed-over"]),
        ),
        python=tool["python"],
        platform=tool["platform"],
        variant=tool["variant"],
        index_url=tool["index"],
        packages=tuple(_locked(package) for package in pylock.packages),
    )


def _locked(package: Package) -> LockedPackage:
    tool: Mapping[str, Any] = (package.tool or {})["envsolve"]
    hashed_here = set(tool.get("hashed-here", ()))
    return LockedPackage(
        name=package.name,
        version=package.version or Version("0"),
        files=tuple(_file(wheel, hashed_here) for wheel in package.wheels or ()),
        direct=tool["direct"],
        via=tuple(tool["via"]),
        requires=tuple(dependency["name"] for dependency in package.dependencies or ()),
    )


def _file(wheel: PackageWheel, hashed_here: set[str]) -> LockedFile:
    url = wheel.url or ""
    filename = wheel.name or unquote(url.rsplit("/", 1)[-1])
    return LockedFile(
        filename=filename,
        url=url,
        sha256=wheel.hashes["sha256"],
        size=wheel.size,
        hashed_here=filename in hashed_here,
    )
