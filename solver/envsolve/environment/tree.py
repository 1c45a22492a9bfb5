"""Tree: folders as a whole: made, measured and removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from envsolve.errors import OutsideError


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises OutsideError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutsideError(
            f"can't make the folder {path}: {error.strerror}",
            hint="name one that you may write to: export ENVSOLVE_HOME=/a/folder, or another --path",
        ) from error


def remove_tree(path: Path) -> bool:
    """Remove a folder; False when something of it stays (files in use)."""
    if not path.exists():
        return True
    # Out of the way first: a removal that is killed half-way never leaves a folder that looks whole.
    doomed = path.with_name(f"{path.name}.removed-{os.urandom(4).hex()}")
    try:
        path.rename(doomed)
    except OSError:
        return False
    shutil.rmtree(doomed, ignore_errors=True)
    return not doomed.exists()


def folder_size(path: Path) -> int:
    """The bytes of all files below a folder, links not followed."""
    total, folders = 0, [os.fspath(path)]
    while folders:
        with os.scandir(folders.pop()) as entries:  # tens of thousands of files: os.walk takes twice as long
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total
