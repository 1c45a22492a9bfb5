"""Handed: a lock as an installer gets it, with the way to the files that only this machine knows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from envsolve.lock.lock import Lock, LockedPackage
from envsolve.redact import origin
from envsolve.settings import PYTORCH_INDEX, Settings

if TYPE_CHECKING:
    from envsolve.environment.pip_wheel import PipWheel


@contextmanager
def handed(
    lock: Lock, folder: Path, settings: Settings, *, pip: PipWheel | None = None, here: Mapping[str, Path] | None = None
) -> Iterator[Path]:
    """A requirements file for the installer; it may hold credentials, so only we can read it and it goes.

    `pip` is a wheel on this machine that is installed too, unless the lock pins a pip of its own; `here` holds the
    files of the lock that are on this machine already, by their SHA-256.
    """
    path = folder / ".envsolve-handed.txt"
    lines = [_line(package, settings, here or {}) for package in lock.packages]
    if pip and all(package.name != "pip" for package in lock.packages):
        lines.append(pip.requirement)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
        yield path
    finally:
        path.unlink(missing_ok=True)


def _line(package: LockedPackage, settings: Settings, here: Mapping[str, Path]) -> str:
    # uv before 0.12 does not take an address's fragment for a hash; pip and every uv take --hash.
    for file in package.files:
        if file.sha256 in here:
            return f"{package.name} @ {here[file.sha256].as_uri()} --hash=sha256:{file.sha256}"
    if package.direct:
        file = package.files[0]
        return f"{package.name} @ {reachable(file.url, settings)} --hash=sha256:{file.sha256}"
    hashes = sorted({file.sha256 for file in package.files})
    return " ".join([f"{package.name}=={package.version}", *(f"--hash=sha256:{digest}" for digest in hashes)])


def reachable(url: str, settings: Settings) -> str:
    """An address of the lock as it is reached from here: from the mirror if there is one, with its credentials."""
    if settings.mirror and url.startswith(f"{PYTORCH_INDEX}/"):
        url = settings.mirror.rstrip("/") + url.removeprefix(PYTORCH_INDEX)
    login = settings.credentials().get(origin(url))
    parts = urlsplit(url)
    if login is None or "@" in parts.netloc:
        return url
    user, password = (quote(part, safe="") for part in login)
    return parts._replace(netloc=f"{user}:{password}@{parts.netloc}").geturl()
