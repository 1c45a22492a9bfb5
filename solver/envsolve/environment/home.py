"""Where envsolve keeps named environments."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from envsolve.errors import InputError


def data_home() -> Path:
    """The folder of named environments: ENVSOLVE_HOME, or the platform's user data folder. Raises InputError."""
    value = os.environ.get("ENVSOLVE_HOME", "")
    if not value:
        return Path(platformdirs.user_data_path("envsolve", appauthor=False))
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise InputError(f"ENVSOLVE_HOME is not an absolute path: {value!r}", hint=f"ENVSOLVE_HOME={path.absolute()}")
    return Path(os.path.normpath(path))
