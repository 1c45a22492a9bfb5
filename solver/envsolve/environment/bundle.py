"""Bundle: a folder with a lock and all of its files, to carry to a machine without a network.

requirements.lock.txt   the lock
wheels/                 its files
offline.txt             the same set for pip alone, each by its file here
SHA256SUMS              of everything in the folder, as sha256sum has it
plan.json               why this set (where it was planned, and not read from a lock)
install.sh, install.cmd
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path

from envsolve.errors import InputError, RefusedError
from envsolve.regex import regex

LOCK = "requirements.lock.txt"
PLAN = "plan.json"
OFFLINE = "offline.txt"
SUMS = "SHA256SUMS"
WHEELS = "wheels"
_SUM = regex(r"(?P<sha256>[0-9a-f]{64}) [ *](?P<path>[^\\\s].*)")


def sums_text(folder: Path) -> str:
    """The text of SHA256SUMS for everything that is in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return "".join(f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in files)


def read_bundle(folder: Path) -> dict[str, Path]:
    """The wheels of a bundle by their SHA-256. Raises InputError (no bundle there), RefusedError (it has changed)."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = f"no {SUMS} in it can be read"
        raise InputError(f"{folder} holds no bundle: {why}", hint="envsolve bundle -o DIR writes one") from error
    sums = dict(_sum(folder, line) for line in lines if line.strip())
    if LOCK not in sums:
        raise InputError(f"{folder / SUMS} names no {LOCK}", hint="envsolve bundle -o DIR writes a new bundle")
    _check(folder, sums)
    return {digest: (folder / path).resolve() for path, digest in sums.items() if path.startswith(f"{WHEELS}/")}


def _sum(folder: Path, line: str) -> tuple[str, str]:
    found = _SUM.fullmatch(line)
    if found is None or Path(found["path"]).is_absolute() or ".." in Path(found["path"]).parts:
        raise InputError(f"{folder / SUMS}: not a line of sha256sum: {line[:100]!r}")
    return found["path"], found["sha256"]


def _check(folder: Path, sums: Mapping[str, str]) -> None:
    for path, digest in sums.items():
        try:
            same = sha256_of(folder / path) == digest
        except OSError as error:
            raise RefusedError(
                f"the bundle lacks {path}: {error.strerror}", hint="copy the whole folder again"
            ) from error
        if not same:
            raise RefusedError(f"{folder / path} is not what the bundle was made with", hint="copy the folder again")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file (hex). Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
