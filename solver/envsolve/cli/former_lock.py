"""The lock that a file holds before it is written again: its versions are kept, and a foreign file is not touched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.lock.conda import CondaPart
    from envsolve.lock.lock import Lock

_MARK = "made by envsolve"


def former_texts(outputs: Iterable[Path]) -> dict[Path, str]:
    """The texts of the outputs that are there.

    Raises InputError for a file that envsolve did not make, and for one that a newer envsolve made with more in it.
    """
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


def former_lock(texts: dict[Path, str], place: tuple[str, str]) -> Lock | None:
    """The first lock for a place (platform, Python) in the texts that can be read back.

    A lock for another place is taken where its file holds no other: its versions are kept as far as they go.
    """
    from envsolve.lock import formats
    from envsolve.lock.newer import NewerLockError

    for path, text in texts.items():
        try:
            locks = formats.format_of(path.name).read(text, path.name)
        except NewerLockError:
            raise
        except InputError as error:
            talk.say(f"note: {error.message}; no version of it is kept")
            continue
        return formats.pick(locks, platform=place[0], python=place[1]) or (locks[0] if len(locks) == 1 else None)
    return None


def former_conda(texts: dict[Path, str], lock: Lock) -> CondaPart | None:
    """The conda part of a former lock, where it is for the same platform, Python and channels."""
    from envsolve.lock import formats

    for path, text in texts.items():
        chosen = formats.format_of(path.name)
        if not chosen.conda:
            continue
        try:
            locks = chosen.read(text, path.name)
        except InputError:
            continue
        found = formats.pick(locks, platform=lock.platform, python=lock.python)
        if found is not None and found.conda is not None and found.conda.channels == lock.channels:
            return found.conda
    return None
