"""The conda part of a lock: Python and pip from conda channels, solved by py-rattler (the extra envsolve[conda])."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from envsolve.errors import OutsideError
from envsolve.index.configuration.redact import redact, strip_credentials


def solve(
    channels: Sequence[str],
    specs: Sequence[str],
    *,
    subdir: str,
    virtual: Sequence[tuple[str, str, str]],
    cache_dir: Path,
    offline: bool = False,
) -> list[dict[str, Any]]:
    """The packages that a platform takes for these specs, by name, each as a dict: CondaPackage's fields.

    `subdir` is conda's name of the platform ("linux-64"), `virtual` the machine's virtual packages as name, version,
    build. Raises OutsideError where py-rattler is absent, a channel can't be read, or nothing satisfies the specs.
    """
    rattler = _rattler()
    try:
        records = asyncio.run(_solve(rattler, channels, specs, subdir, virtual, cache_dir, offline))
    except Exception as error:  # py-rattler's errors have no common base
        told = ", ".join(map(redact, channels))
        reason = " ".join(str(error).split())
        raise OutsideError(
            f"conda can't make {', '.join(specs)} for {subdir} from {told}: {reason}",
            hint="--conda-channel names another channel",
        ) from error
    return sorted(map(_plain, records), key=lambda package: str(package["name"]))


def _rattler() -> ModuleType:
    try:
        import rattler
    except ImportError as error:
        raise OutsideError(
            "a conda lock needs py-rattler, which is not installed", hint="pip install 'envsolve[conda]'"
        ) from error
    return rattler  # type: ignore[no-any-return]


async def _solve(
    rattler: Any,
    channels: Sequence[str],
    specs: Sequence[str],
    subdir: str,
    virtual: Sequence[tuple[str, str, str]],
    cache_dir: Path,
    offline: bool,
) -> list[Any]:
    from rattler.repo_data import SourceConfig

    action = "force-cache-only" if offline else "cache-or-fetch"
    gateway = rattler.Gateway(cache_dir=cache_dir / "conda", default_config=SourceConfig(cache_action=action))
    packages = [
        rattler.GenericVirtualPackage(
            rattler.PackageName(name), rattler.Version(version), rattler.BuildString(build or "0")
        )
        for name, version, build in virtual
    ]
    found: list[Any] = await rattler.solve(
        [rattler.Channel(channel) for channel in channels],
        list(specs),
        gateway=gateway,
        platforms=[subdir, "noarch"],
        virtual_packages=packages,
    )
    return found


def _plain(record: Any) -> dict[str, Any]:
    return {
        "name": record.name.normalized,
        "version": str(record.version),
        "build": str(record.build),
        "url": strip_credentials(str(record.url)),
        "md5": record.md5.hex() if record.md5 else "",
        "sha256": record.sha256.hex() if record.sha256 else "",
        "depends": tuple(sorted(record.depends)),
    }
