"""Every test runs with a home, caches and pip/uv configuration of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_DROPPED = ("ENVSOLVE_", "PIP_", "UV_", "CONDA_", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "NVIDIA_", "XDG_", "NO_COLOR")


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home: no test sees this machine's pip, uv or envsolve configuration, and none leaves anything behind."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_DROPPED):
            monkeypatch.delenv(name)
    for name, folder in {
        "HOME": "",
        "USERPROFILE": "",
        "XDG_CACHE_HOME": ".cache",
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
        "XDG_CONFIG_DIRS": ".config-dirs",
    }.items():
        path = home / folder
        path.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv(name, str(path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    return home
