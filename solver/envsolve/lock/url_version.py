"""The version in the file name at the end of an address."""

from __future__ import annotations

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.lock.addresses import filename_of


def version_of_url(url: str, where: str) -> Version:
    """The version of a wheel or a source archive. Raises InputError with `where` for other addresses."""
    filename = filename_of(url)
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        raise InputError(f"{where}: {filename or url!r} is not the name of a wheel") from None
