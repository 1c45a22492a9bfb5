"""The pip for a new environment, from a wheel that is on this machine already."""

from __future__ import annotations

import importlib.util
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from envsolve.environment.pythons import TargetPython

_REQUIRES = re.compile(r"^Requires-Python: *(\S.*?)\s*$", re.MULTILINE)


def pip_wheel(python: TargetPython) -> Path | None:
    """The newest pip that runs on this Python, of those that virtualenv and the Python itself bring along."""
    fitting = [(_version(wheel), wheel) for wheel in _wheels(python) if _runs_on(wheel, python.version)]
    return max(fitting)[1] if fitting else None


def _wheels(python: TargetPython) -> Iterator[Path]:
    # Looked up, not imported: virtualenv costs a tenth of a second.
    spec = importlib.util.find_spec("virtualenv")
    for folder in spec.submodule_search_locations or () if spec else ():
        yield from Path(folder, "seed", "wheels", "embed").glob("pip-*.whl")
    yield from (python.stdlib / "ensurepip" / "_bundled").glob("pip-*.whl")


def _version(wheel: Path) -> Version:
    try:
        return parse_wheel_filename(wheel.name)[1]
    except InvalidWheelFilename:
        return Version("0")


def _runs_on(wheel: Path, python: str) -> bool:
    try:
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(f"pip-{_version(wheel)}.dist-info/METADATA").decode(errors="replace")
        requires = _REQUIRES.search(metadata)
        return Version(python) in SpecifierSet(requires[1] if requires else "")
    except (OSError, KeyError, zipfile.BadZipFile, InvalidSpecifier):
        return False
