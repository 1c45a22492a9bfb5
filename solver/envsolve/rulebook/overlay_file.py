"""Overlay file: where the overlay of the rules lies on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "rules-overlay.json"


def overlay_path() -> Path:
    """ENVSOLVE_HOME, or the user's data folder as platformdirs has it, which is asked for only where it is no plain
    path: every command passes here."""
    if home := os.environ.get("ENVSOLVE_HOME"):
        return Path(home) / NAME
    if sys.platform == "linux":
        data = os.environ.get("XDG_DATA_HOME", "").strip()
        return (Path(data) if data.startswith("/") else Path.home() / ".local" / "share") / "envsolve" / NAME
    from platformdirs import user_data_path

    return user_data_path("envsolve", appauthor=False) / NAME
