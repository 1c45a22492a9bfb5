"""The version in the file name at the end of an address."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError


def version_of_url(url: str, where: str) -> Version:
    """The version of a wheel or a source archive. Raises InputError with `where` for other addresses."""
    filename = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        raise InputError(f"{where}: {filename or url!r} is not the name of a wheel") from None
