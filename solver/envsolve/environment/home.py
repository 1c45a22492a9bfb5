"""Where envsolve keeps named environments and its cache."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from envsolve.errors import InputError


def data_home() -> Path:
    """The folder of named environments: ENVSOLVE_HOME, or the platform's user data folder. Raises InputError."""
    return _from_variable("ENVSOLVE_HOME") or Path(platformdirs.user_data_path("envsolve", appauthor=False))


def cache_home() -> Path:
    """The folder of what may be deleted at any time: ENVSOLVE_CACHE_DIR, or the platform's cache folder."""
    return _from_variable("ENVSOLVE_CACHE_DIR") or Path(platformdirs.user_cache_path("envsolve", appauthor=False))


def _from_variable(name: str) -> Path | None:
    value = os.environ.get(name, "")
    if not value:
        return None
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise InputError(f"{name} is not an absolute path: {value!r}", hint=f"export {name}={path.absolute()}")
    return path
