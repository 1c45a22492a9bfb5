"""Addresses of files in locks: the names at their ends, and formats that need to know them all."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from envsolve.errors import InputError
from envsolve.lock.lock import LockedPackage

_SHOWN = 3


def filename_of(url: str) -> str:
    """The name of the file that an address ends with, a ?query and a #fragment left out."""
    return unquote(urlsplit(url).path.rsplit("/", 1)[-1])


def check_addresses(packages: Iterable[LockedPackage], what: str) -> None:
    """Raises InputError where the address of a package's files is not known: offline the snapshot holds few."""
    unknown = [package.name for package in packages if not all(file.url for file in package.files)]
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise InputError(
            f"{what} needs every file's address; the snapshot has none for {', '.join(unknown[:_SHOWN])}{more}",
            hint="leave --offline out, or -o requirements.lock.txt, which needs hashes only",
        )
