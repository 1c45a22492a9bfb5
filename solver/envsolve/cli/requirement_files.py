"""Requirement files (-r) from disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.lock.requirements_in import Wishes


def read_wishes(files: Iterable[Path]) -> Wishes:
    """What the files and those they name ask for. Raises InputError with file and line."""
    from envsolve.lock.requirements_in import Wishes, parse

    wishes = Wishes()
    for file in files:
        wishes += parse(_text(file), origin=file, read=_text, variables=os.environ)
    return wishes


def _text(path: PurePath) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error
