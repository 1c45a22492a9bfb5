"""A folder of files that envsolve writes for other tools: all of them or none, and never over what is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envsolve.cli.written import write_all
from envsolve.errors import InputError, OutsideError


def check_folder(folder: Path, names: tuple[str, ...], *, force: bool) -> None:
    """Raises InputError where one of the files is there already (unless `force`), or the folder is a file."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder", hint="-o names another folder")
    taken = [name for name in names if (folder / name).exists() or (folder / name).is_symlink()]
    if taken and not force:
        raise InputError(f"{folder / taken[0]} is there already", hint="-o names another folder, --force overwrites")


def write_folder(folder: Path, texts: Mapping[str, str], *, force: bool, executable: tuple[str, ...] = ()) -> None:
    """Write the files; nothing is changed until all are on disk. Raises InputError like `check_folder`, OutsideError.

    What is a link is replaced and not followed.
    """
    check_folder(folder, tuple(texts), force=force)
    made = _missing(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_all({folder / name: text for name, text in texts.items()}, through_links=False)
        for name in executable:
            path = folder / name
            path.chmod(path.stat().st_mode | 0o111)
    except OSError as error:
        _unmake(made)
        raise OutsideError(f"can't write {error.filename or folder}: {error.strerror}") from error
    except OutsideError:
        _unmake(made)
        raise


def _missing(folder: Path) -> list[Path]:
    """The folders that are to be made, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _unmake(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()  # only where it is empty
        except OSError:
            return
