"""Lock: every package of an environment, pinned and hashed."""

from __future__ import annotations

from packaging.version import Version

from envsolve.lock.conda import DEFAULT_CHANNELS, CondaPart, Virtual
from envsolve.record import record


@record
class LockedFile:
    """One file that may be installed: its name, address (without credentials) and SHA-256 as 64 hex digits.

    `url` is "" where the address is not known: the snapshot has names and hashes only for some.
    """

    filename: str
    url: str
    sha256: str
    size: int | None = None
    hashed_here: bool = False  # the index gave no hash; envsolve hashed the file itself


def is_sdist(filename: str) -> bool:
    """Whether a file is a source archive, which an installer must build."""
    return filename.endswith((".tar.gz", ".zip"))


@record
class LockedPackage:
    """One package at one version.

    `direct` packages (the torch family) are named by the address of their one wheel, so that no other index can supply
    them; the others are pinned by version with the hashes of every file that fits the target. `via` lists who asks.
    """

    name: str
    version: Version
    files: tuple[LockedFile, ...]
    direct: bool
    via: tuple[str, ...]
    requires: tuple[str, ...] = ()  # canonical names of the packages that it needs here
    taken: str = ""  # the name of the file that the target takes; "" once the lock was read back


@record
class LockHeader:
    """For which machine, by which rules and with which command a lock was made; no dates, no absolute paths."""

    command: str
    target: str  # "linux x86_64, glibc >= 2.28, python 3.12, cu130"
    gpus: tuple[str, ...]  # "NVIDIA H200: native sm_90"
    rules: str  # hash of the rules
    envsolve: str
    portable: bool = True
    local: tuple[str, ...] = ()  # the packages that come from this machine's disk only: why it is not portable
    passed_over: tuple[str, ...] = ()  # "torch 2.15.0 (cu132, cu130)": planned before, and no place had it


@record
class Lock:
    """A complete, hashed set of packages for one target.

    `conda` is there only where a conda lock was asked for; it and `virtual` are not read back from a file.
    """

    header: LockHeader
    python: str  # major.minor of the target
    platform: str
    variant: str
    index_url: str
    packages: tuple[LockedPackage, ...]
    virtual: tuple[Virtual, ...] = ()
    conda: CondaPart | None = None
    channels: tuple[str, ...] = DEFAULT_CHANNELS  # conda's, for the formats that name them
