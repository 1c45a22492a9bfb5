"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from envsolve.errors import OutsideError


def write_all(texts: Mapping[Path, str]) -> None:
    """Write each text to its file; nothing is changed until all of them are on disk. Raises OutsideError."""
    ready: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            ready.append((_beside(path, text), path))
        for temporary, path in ready:
            temporary.replace(path)
    except OSError as error:
        raise OutsideError(f"can't write {error.filename2 or error.filename or path}: {error.strerror}") from error
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)


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
