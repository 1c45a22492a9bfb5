"""The lock that a file holds before it is written again: its versions are kept, and a foreign file is not touched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.lock.lock import Lock

_MARK = "made by envsolve"


def former_texts(outputs: Iterable[Path]) -> dict[Path, str]:
    """The texts of the outputs that are there. Raises InputError for a file that envsolve did not make."""
    texts: dict[Path, str] = {}
    for path in outputs:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't read {path}: {error}", hint="-o names another file") from error
        if text.strip() and _MARK not in text:
            raise InputError(
                f"{path} is there and was not made by envsolve", hint="give another name with -o, or remove the file"
            )
        texts[path] = text
    return texts


def former_lock(texts: dict[Path, str]) -> Lock | None:
    """The first of the texts that can be read back as a lock."""
    from envsolve.lock import formats

    for path, text in texts.items():
        try:
            return formats.read(text, path.name)
        except InputError as error:
            talk.detail(f"{path}: its versions are not kept: {error.message}")
    return None
