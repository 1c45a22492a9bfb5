"""Strays: files in the working folder that Python takes for packages of the torch set. Reads files only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from envsolve.doctor.look_files import Dist, local_path

_NAMES = ("torch", "torchvision", "torchaudio", "triton", "numpy")


def strays(here: Path, dists: Sequence[Dist]) -> Mapping[str, str]:
    """The package -> its stranger in a folder, which comes first on the path of every program that is started there.

    A folder that the package itself was installed from (editable), or that holds the installed packages, has none.
    """
    if any(dist.site == here for dist in dists):
        return {}
    names = {dist.name for dist in dists} | {"torch"}
    found = {name: _stray(here, name) for name in _NAMES if name in names}
    own = [local_path(dist.origin) for dist in dists if dist.name in _NAMES]
    if any(here.is_relative_to(folder) for folder in own if folder):
        return {}
    return {name: str(file) for name, file in found.items() if file}


def _stray(here: Path, name: str) -> Path | None:
    file, package = here / f"{name}.py", here / name
    if (package / "__init__.py").is_file():
        return package
    return file if file.is_file() else None
