"""The file behind a requirement that names an address: `name @ https://…/name-1.0-py3-none-any.whl`."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit, urlunsplit

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from envsolve.errors import InputError
from envsolve.index.release import ReleaseFile
from envsolve.regex import regex

_SCHEMES = ("https", "http", "file")
_SHA256 = regex(r"(?:^|&)sha256=([0-9a-f]{64})(?:&|$)")


def url_file(requirement: Requirement) -> ReleaseFile:
    """The ReleaseFile of a requirement with a URL. Raises InputError if it is not a wheel of that package."""
    assert requirement.url is not None
    parts = urlsplit(requirement.url)
    if parts.scheme not in _SCHEMES:
        raise InputError(f"{requirement}: only the address of a wheel can be locked", hint="build a wheel")
    if parts.scheme == "file" and not parts.path.startswith("/"):
        raise InputError(f"{requirement}: not an absolute path", hint="file:///path/to/NAME-1.0-py3-none-any.whl")
    filename = unquote(parts.path.rsplit("/", 1)[-1])
    try:
        name, version, build, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        raise InputError(f"{requirement}: only the address of a wheel can be locked", hint="build a wheel") from None
    if name != canonicalize_name(requirement.name):
        raise InputError(f"{requirement}: the file is of {name}", hint=f"{name} @ {requirement.url}")
    digest = _SHA256.search(parts.fragment)
    return ReleaseFile(
        name=name,
        version=version,
        filename=filename,
        # Without user and password: they never reach a lock; the index finds them in netrc or the keyring.
        url=urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")),
        source="address",
        sha256=digest[1] if digest else None,
        tags=tags,
        build=build,
    )
