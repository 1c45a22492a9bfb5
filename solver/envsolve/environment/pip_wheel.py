"""The pip for a new environment, from a wheel that is on this machine already."""

from __future__ import annotations

import importlib.util
import re
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envsolve.environment.pythons import TargetPython
from envsolve.record import record
from envsolve.regex import regex

_REQUIRES = regex(r"^Requires-Python: *(\S.*?)\s*$", re.MULTILINE)


@record
class PipWheel:
    """A wheel of pip on this machine, and the SHA-256 (hex) of its bytes."""

    path: Path
    sha256: str

    @property
    def requirement(self) -> str:
        """The line of a requirements file that installs it."""
        return f"pip @ {self.path.as_uri()} --hash=sha256:{self.sha256}"


def pip_wheel(python: TargetPython) -> PipWheel | None:
    """The newest pip that runs on this Python, of those that virtualenv and the Python itself bring along."""
    newest_first = sorted(_wheels(python), key=_version, reverse=True)
    found = next((wheel for wheel in newest_first if _runs_on(wheel, python.version)), None)
    return PipWheel(path=found, sha256=sha256(found.read_bytes()).hexdigest()) if found else None


def _wheels(python: TargetPython) -> Iterator[Path]:
    # Looked up, not imported: virtualenv costs a tenth of a second.
    spec = importlib.util.find_spec("virtualenv")
    for folder in spec.submodule_search_locations or () if spec else ():
        yield from Path(folder, "seed", "wheels", "embed").glob("pip-*.whl")
    yield from (python.stdlib / "ensurepip" / "_bundled").glob("pip-*.whl")


def _version(wheel: Path) -> Version:
    try:
        return Version(wheel.name.split("-")[1])
    except InvalidVersion:
        return Version("0")


def _runs_on(wheel: Path, python: str) -> bool:
    try:
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(f"pip-{_version(wheel)}.dist-info/METADATA").decode(errors="replace")
        requires = _REQUIRES.search(metadata)
        return Version(python) in SpecifierSet(requires[1] if requires else "")
    except (OSError, KeyError, zipfile.BadZipFile, InvalidSpecifier):
        return False
