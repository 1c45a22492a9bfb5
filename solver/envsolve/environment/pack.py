"""Pack: write a bundle. Its files are found in the index by the hashes that the lock pins."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from envsolve.environment import bundle
from envsolve.environment.fetch import fetch
from envsolve.environment.handed import reachable
from envsolve.environment.progress import Progress, untold
from envsolve.environment.wanted import Wanted
from envsolve.errors import InputError, OutsideError, RefusedError
from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.resolve.protocol import Index
from envsolve.settings import Settings

_SH = """#!/bin/sh
# Makes the environment NAME from this folder, without a network: ./install.sh NAME
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
name=${{1:?usage: ./install.sh NAME}}
if command -v envsolve >/dev/null 2>&1; then
    exec envsolve install --bundle "$here" --name "$name"
fi
echo "envsolve is not on this machine: python{python} -m venv and pip do it, and nothing is proven" >&2
case $name in /*) ;; *) name=$PWD/$name ;; esac
[ ! -e "$name" ] || {{ echo "$name is there already" >&2; exit 2; }}
cd "$here"
sha256sum -c --quiet SHA256SUMS
python{python} -m venv "$name"
"$name/bin/python" -I -m pip install --no-index --no-deps --require-hashes -r offline.txt
"""
_CMD = '@echo off\r\nenvsolve install --bundle "%~dp0." --name %1\r\n'


def check_new(folder: Path) -> None:
    """Raises InputError where a bundle can't be written to: something is there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there and not empty", hint="-o names a new folder")
    if not folder.absolute().parent.is_dir():
        raise InputError(f"there is no folder {folder.absolute().parent}", hint="-o names a folder in one that exists")


def pack(
    folder: Path,
    lock: Lock,
    text: str,
    index: Index,
    settings: Settings,
    *,
    plan: str = "",
    progress: Progress = untold,
) -> int:
    """Write the bundle of a lock into a new folder, all of it or nothing; gives the bytes of its wheels.

    `plan` is a JSON text that is kept beside it. Raises InputError, OutsideError, RefusedError (other bytes).
    """
    check_new(folder)
    files = {package.name: _file(package, lock, index) for package in lock.packages}
    here = _bring(files.values(), settings, progress)
    fresh = folder.absolute().with_name(f".{folder.name}-{secrets.token_hex(4)}.tmp")
    try:
        size = _write(fresh, lock, text, plan, files, here)
        if folder.exists():
            folder.rmdir()
        fresh.rename(folder)
    except OSError as error:
        raise OutsideError(f"could not write the bundle: {error.strerror}: {error.filename}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return size


def _file(package: LockedPackage, lock: Lock, index: Index) -> LockedFile:
    """The one file of a package that goes into the bundle, with its address."""
    if package.direct:
        return package.files[0]
    taken = [file for file in package.files if file.url and (not package.taken or file.filename == package.taken)]
    if taken:
        return taken[0]
    hashes = {file.sha256 for file in package.files}
    for listed in index.files(package.name):
        if listed.sha256 in hashes and listed.is_wheel:
            return LockedFile(filename=listed.filename, url=listed.url, sha256=listed.sha256 or "", size=listed.size)
    raise RefusedError(
        f"no index has a file of {package.name} {package.version} with a hash of the lock, for {lock.platform}",
        hint="--index and --find-links name other places; envsolve lock makes the lock anew",
    )


def _bring(files: Iterable[LockedFile], settings: Settings, progress: Progress) -> dict[str, Path]:
    """Where the files are on this machine, by their SHA-256."""
    here: dict[str, Path] = {}
    wanted = []
    for file in files:
        if file.url.startswith("file:"):
            here[file.sha256] = Path(unquote(urlsplit(file.url).path))
        else:
            url = reachable(file.url, settings)
            wanted.append(Wanted(filename=file.filename, url=url, sha256=file.sha256, size=file.size))
    try:
        fetched = fetch(wanted, settings, progress=progress)
    except OSError as error:
        raise OutsideError(f"could not keep a wheel: {error.strerror}: {error.filename}") from error
    for failure in fetched.failed.values():
        raise failure
    return {**here, **fetched.files}


def _write(folder: Path, lock: Lock, text: str, plan: str, files: dict[str, LockedFile], here: dict[str, Path]) -> int:
    wheels = folder / bundle.WHEELS
    wheels.mkdir(parents=True)
    lines, size = [], 0
    for name, file in files.items():
        # The address names the file as the index does, with "+" for a label: pip reads the version from it.
        place = wheels / unquote(file.filename)
        shutil.copyfile(here[file.sha256], place)
        size += place.stat().st_size
        lines.append(f"./{bundle.WHEELS}/{place.name} --hash=sha256:{file.sha256}  # {name}")
    _put(folder / bundle.LOCK, text)
    _put(folder / bundle.OFFLINE, "\n".join(lines) + "\n")
    if plan:
        _put(folder / bundle.PLAN, plan)
    _put(folder / "install.sh", _SH.format(python=lock.python))
    (folder / "install.sh").chmod(0o755)
    if lock.platform.startswith("windows"):
        _put(folder / "install.cmd", _CMD)
    _put(folder / bundle.SUMS, bundle.sums_text(folder))
    return size


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
