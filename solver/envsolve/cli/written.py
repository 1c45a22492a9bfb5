"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from envsolve.errors import OutsideError


def write_all(texts: Mapping[Path, str], *, through_links: bool = True) -> None:
    """Write each text to its file, all or none: nothing is changed until all of them are on disk, and where one can't
    take its place the others get their former content back. Raises OutsideError.

    A link stays one, and the file behind it is written; without `through_links` the file takes the link's place.
    """
    ready: list[tuple[Path, Path]] = []
    former: dict[Path, bytes | None] = {}
    try:
        for path, text in texts.items():
            target = Path(os.path.realpath(path)) if through_links and path.is_symlink() else path
            ready.append((_beside(target, text), target))
        for temporary, path in ready:
            before = path.read_bytes() if path.exists() else None
            temporary.replace(path)
            former[path] = before
    except OSError as error:
        _restore(former)
        raise OutsideError(f"can't write {error.filename2 or error.filename or path}: {error.strerror}") from error
    except BaseException:
        _restore(former)
        raise
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)


def _restore(former: Mapping[Path, bytes | None]) -> None:
    """As they were; None for a file that was not there."""
    for path, content in former.items():
        with contextlib.suppress(OSError):
            path.unlink() if content is None else path.write_bytes(content)


def _beside(path: Path, text: str) -> Path:
    """The text in a temporary file on the same disk, with the mode that a new file gets."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
