"""conda-lock.yml, version 1: conda makes the Python and pip, pip takes the wheels by address and hash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import yaml
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.lock.addresses import check_addresses, filename_of
from envsolve.lock.conda import SUBDIRS, CondaPackage, CondaPart, python_specs
from envsolve.lock.header import HeaderReader, header_lines
from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.lock.newer import NewerLockError
from envsolve.record import replace

Entry = dict[str, Any]


def write(*locks: Lock) -> str:
    """The text of the file, a platform of it for each lock.

    Raises InputError for two locks of one platform, and for a lock whose conda part was not solved.
    """
    subdirs = [SUBDIRS[lock.platform] for lock in locks]
    twice = next((subdir for subdir in subdirs if subdirs.count(subdir) > 1), None)
    if twice:
        raise InputError(f"a conda-lock.yml can't hold two targets of {twice}", hint="-o lockfiles/ writes one each")
    for lock in locks:
        check_addresses(lock.packages, "a conda-lock.yml")
    parts = [_part(lock) for lock in locks]
    document = {
        "version": 1,
        "metadata": {
            "content_hash": {subdir: _inputs_hash(lock) for subdir, lock in zip(subdirs, locks, strict=True)},
            "channels": [{"url": channel, "used_env_vars": []} for channel in parts[0].channels],
            "platforms": subdirs,
            "sources": ["environment.yml"],
        },
        "package": [entry for lock, part in zip(locks, parts, strict=True) for entry in _entries(lock, part)],
    }
    comment = "".join(f"# {line}\n" for line in header_lines(*locks))
    return comment + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000)


def _part(lock: Lock) -> CondaPart:
    if lock.conda is None:
        raise InputError("the conda part of the lock was not solved", hint="envsolve lock -o conda-lock.yml")
    return lock.conda


def _inputs_hash(lock: Lock) -> str:
    """A hash of what was asked of conda and pip; conda-lock compares it with its own only when told to."""
    part = _part(lock)
    wheels = [f"{package.name}=={package.version}" for package in lock.packages]
    asked = [list(part.channels), list(python_specs(lock.python)), [str(v) for v in lock.virtual], wheels]
    return sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()


def _entries(lock: Lock, part: CondaPart) -> Iterator[Entry]:
    subdir = SUBDIRS[lock.platform]
    yield from (_conda(package, subdir) for package in part.packages)
    yield from (_wheel(package, subdir) for package in lock.packages)


def _conda(package: CondaPackage, subdir: str) -> Entry:
    hashes = {"md5": package.md5, "sha256": package.sha256}
    return {
        "name": package.name,
        "version": package.version,
        "manager": "conda",
        "platform": subdir,
        "dependencies": dict(sorted(_split(depend) for depend in package.depends)),
        "url": package.url,
        "hash": {name: digest for name, digest in hashes.items() if digest},
        "category": "main",
        "optional": False,
    }


def _split(depend: str) -> tuple[str, str]:
    name, _, versions = depend.partition(" ")
    return name, versions.strip()


def _wheel(package: LockedPackage, subdir: str) -> Entry:
    file = _taken(package)
    entry: Entry = {
        "name": package.name,
        "version": str(package.version),
        "manager": "pip",
        "platform": subdir,
        "dependencies": dict.fromkeys(package.requires, "*"),
        "url": file.url,
        "hash": {"sha256": file.sha256},
        "category": "main",
        "optional": False,
    }
    if package.direct:
        # Rendered as an environment, this keeps the address that is the only way to the file.
        entry["source"] = {"type": "url", "url": f"{file.url}#sha256={file.sha256}"}
    return entry


def _taken(package: LockedPackage) -> LockedFile:
    """The file that the target takes."""
    named: Sequence[LockedFile] = [file for file in package.files if file.filename == package.taken]
    return (named or package.files)[0]


def read_all(text: str, *, what: str = "the lock") -> tuple[Lock, ...]:
    """The locks behind such a text, with their conda parts; who needs a package (`via`) is not in it.

    Raises InputError for what envsolve does not write.
    """
    header = HeaderReader(what)
    for line in text.splitlines():
        if line.startswith("# "):
            header.feed(line[2:])
    header.check()
    try:
        document = yaml.safe_load(text)
        if document["version"] != 1:
            raise NewerLockError(f"{what} is of version {document['version']}, and 1 is known")
        entries: list[Entry] = document["package"]
        channels = tuple(channel["url"] for channel in document["metadata"]["channels"])
        subdirs = [SUBDIRS[platform] for platform, _ in header.places]
        locks = header.locks([tuple(_wheels(entries, subdir)) for subdir in subdirs])
        parts = [CondaPart(channels=channels, packages=tuple(_condas(entries, subdir))) for subdir in subdirs]
    except (yaml.YAMLError, KeyError, TypeError, InvalidWheelFilename) as error:
        raise InputError(f"{what} is not a conda-lock.yml of envsolve's: {error}", hint="envsolve lock") from error
    return tuple(replace(lock, conda=part, channels=channels) for lock, part in zip(locks, parts, strict=True))


def _wheels(entries: Sequence[Entry], subdir: str) -> Iterator[LockedPackage]:
    for entry in entries:
        if entry["manager"] == "pip" and entry["platform"] == subdir:
            filename = filename_of(entry["url"])
            yield LockedPackage(
                name=entry["name"],
                version=_version(filename, entry["version"]),
                files=(LockedFile(filename=filename, url=entry["url"], sha256=entry["hash"]["sha256"]),),
                direct="source" in entry,
                via=(),
                requires=tuple(entry["dependencies"]),
                taken=filename,
            )


def _version(filename: str, told: str) -> Version:
    return parse_wheel_filename(filename)[1] if filename.endswith(".whl") else Version(told)


def _condas(entries: Sequence[Entry], subdir: str) -> Iterator[CondaPackage]:
    for entry in entries:
        if entry["manager"] == "conda" and entry["platform"] == subdir:
            yield CondaPackage(
                name=entry["name"],
                version=entry["version"],
                build=build_of(entry["url"]),
                url=entry["url"],
                md5=entry["hash"].get("md5", ""),
                sha256=entry["hash"].get("sha256", ""),
                depends=tuple(f"{name} {versions}".strip() for name, versions in entry["dependencies"].items()),
            )


def build_of(url: str) -> str:
    """The build string at the end of a package's file name."""
    stem = url.rsplit("/", 1)[-1].removesuffix(".conda").removesuffix(".tar.bz2")
    return stem.rsplit("-", 1)[-1]
