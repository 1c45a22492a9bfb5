"""Base: how an environment's Python imports torch; by the files alone where that Python is gone or does not run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envsolve.doctor.evidence import Damage
from envsolve.doctor.look_child import where
from envsolve.doctor.look_place import Place, is_file
from envsolve.errors import OutsideError
from envsolve.record import field, record
from envsolve.regex import regex

_HOME = regex(r"^home *= *(.+?) *$", re.MULTILINE)
_VERSION = regex(r"^version(?:_info)? *= *(\d+\.\d+)", re.MULTILINE)
_LIB = regex(r"python(\d+\.\d+t?)$")


@record
class Base:
    """What probes/where.py says, or what files say in its place; `damage` is what is wrong with the Python itself."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    damage: tuple[Damage, ...] = ()

    @property
    def sites(self) -> list[Path]:
        """The folders of installed packages, in the order of the path."""
        return [Path(p) for p in self.asked.get("path", ()) if "packages" in p]


def base_of(place: Place) -> Base:
    """Raises OutsideError where the interpreter doesn't run and no environment lies around it."""
    try:
        return Base(asked=where(place.interpreter))
    except OutsideError as error:
        sites = _sites(place.root)
        if not place.is_environment or not sites:
            raise
        return Base(asked=_by_files(place, sites), damage=(_broken(place, error),))


def _sites(root: Path) -> list[Path]:
    return [site for pattern in ("lib/python3*", "Lib") for site in sorted(root.glob(f"{pattern}/site-packages"))]


def _by_files(place: Place, sites: list[Path]) -> Mapping[str, Any]:
    package = next((p for site in sites if is_file(p := site / "torch" / "__init__.py")), None)
    return {
        "python": _python(place, sites[0]),
        "path": [str(site) for site in sites],
        "prefix": str(place.root),
        "torch": str(package) if package else None,
    }


def _python(place: Place, site: Path) -> str | None:
    """The version in the folder's name (POSIX), else in pyvenv.cfg."""
    if named := _LIB.search(site.parent.name):
        return named[1]
    stated = _VERSION.search(_config(place))
    return stated[1] if stated else None


def _config(place: Place) -> str:
    try:
        return (place.root / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _reaches(interpreter: Path) -> bool:
    """Whether it is there, be it another user's."""
    try:
        interpreter.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _broken(place: Place, error: OutsideError) -> Damage:
    """Why the interpreter doesn't run."""
    home = _HOME.search(_config(place))
    gone = not _reaches(place.interpreter)
    folder = home[1] if home else os.path.dirname(os.path.realpath(place.interpreter))  # noqa: PTH120 - it dangles
    if gone and (place.interpreter.is_symlink() or not Path(folder).is_dir()):
        text = f"the Python that this environment was made from is gone ({folder})"
    elif gone:
        text = f"its Python is gone: there is no {place.interpreter}"
    elif not os.access(place.interpreter, os.X_OK):
        text = f"its Python may not be run by this user: {os.path.realpath(place.interpreter)}"
    else:
        text = error.message
    return Damage(kind="python", what=folder, text=text)
