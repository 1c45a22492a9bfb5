"""environment.yml: conda makes the Python, pip inside it takes the pinned packages, the torch family by address.

Index lines are left out: conda-lock does not read them, and nothing here needs another index. conda gives the pip
section to pip as a requirements file; hashes of pinned versions would make pip ask for them on every line.
"""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.lock.header import header_lines
from envsolve.lock.lock import Lock, LockedPackage

_CHANNELS = ("conda-forge", "nodefaults")


def write(lock: Lock, *, name: str = "envsolve") -> str:
    """The text of the file; `name` is what conda calls the environment."""
    return "\n".join(_lines(lock, name)) + "\n"


def _lines(lock: Lock, name: str) -> Iterator[str]:
    yield from (f"# {line}" for line in header_lines(lock))
    yield f"name: {name}"
    yield "channels:"
    yield from (f"  - {channel}" for channel in _CHANNELS)
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
