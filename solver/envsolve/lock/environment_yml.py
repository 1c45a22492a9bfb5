"""environment.yml: conda makes the Python, pip inside it takes the pinned packages, the torch family by address.

Index lines are left out: conda-lock does not read them, and nothing here needs another index. conda gives the pip
section to pip as a requirements file; hashes of pinned versions would make pip ask for them on every line.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.lock.addresses import filename_of
from envsolve.lock.header import HeaderReader, header_lines
from envsolve.lock.lock import Lock, LockedFile, LockedPackage
from envsolve.record import replace


def write(*locks: Lock, name: str = "envsolve") -> str:
    """The text of the file; `name` is what conda calls the environment. Raises InputError for several locks."""
    if len(locks) > 1:
        raise InputError("an environment.yml holds one target only", hint="-o lockfiles/ writes one file each")
    lock = locks[0]
    return "\n".join(_lines(lock, name)) + "\n"


def _lines(lock: Lock, name: str) -> Iterator[str]:
    yield from (f"# {line}" for line in header_lines(lock))
    yield f"name: {name}"
    yield "channels:"
    yield from (f"  - {channel}" for channel in (*lock.channels, "nodefaults"))
    yield "dependencies:"
    yield f"  - python={lock.python.rstrip('t')}"
    if lock.python.endswith("t"):
        yield "  - python-freethreading"
    yield "  - pip"
    yield "  - pip:"
    yield from (f'      - "{_entry(package)}"' for package in lock.packages)


def _entry(package: LockedPackage) -> str:
    if package.direct:
        file = package.files[0]
        return f"{package.name} @ {file.url}#sha256={file.sha256}"
    return f"{package.name}=={package.version}"


def read_all(text: str, *, what: str = "the lock") -> tuple[Lock, ...]:
    """The lock behind such a text: names, versions and the files with an address; the other packages have no files.

    Raises InputError for what envsolve does not write.
    """
    header = HeaderReader(what)
    for line in text.splitlines():
        if line.startswith("# "):
            header.feed(line[2:])
    header.check()
    try:
        document = yaml.safe_load(text)
        (section,) = (entry["pip"] for entry in document["dependencies"] if isinstance(entry, dict))
        (lock,) = header.locks([tuple(map(_package, section))])
    except (yaml.YAMLError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{what} is not an environment of envsolve's: {error}", hint="envsolve lock") from error
    return (replace(lock, channels=tuple(c for c in document["channels"] if c != "nodefaults")),)


def _package(entry: str) -> LockedPackage:
    """Raises ValueError."""
    requirement = Requirement(entry)
    if requirement.url is None:
        (pin,) = requirement.specifier
        return LockedPackage(name=requirement.name, version=Version(pin.version), files=(), direct=False, via=())
    url, _, digest = requirement.url.partition("#sha256=")
    filename = filename_of(url)
    file = LockedFile(filename=filename, url=url, sha256=digest)
    version = parse_wheel_filename(filename)[1]
    return LockedPackage(name=requirement.name, version=version, files=(file,), direct=True, via=())
