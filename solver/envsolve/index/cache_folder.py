"""CacheFolder: what lies in the cache, by kind, and how it is taken away without touching anything of others."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from envsolve.errors import OutsideError
from envsolve.record import record
from envsolve.regex import regex

_WHAT = {
    "page": "pages of indexes, as they came",
    "view": "what of a page fits one platform and Python",
    "worked-out": "versions and requirements, worked out for one target",
    "metadata": "requirements of wheels",
    "hash": "hashes of files that no index gives",
    "wheels": "wheels, whole and in part",
    "conda": "what conda channels gave",
    "virtualenv": "what virtualenv makes environments from",
    "older": "written by an older envsolve",
}
_INDEX = regex(r"index-\d+")
_ENTRY = regex(r"[0-9a-f]{38,40}(\.[\d-]+\.part|\w*\.part)?")
_SHA256 = regex(r"[0-9a-f]{64}")
_DOWNLOAD = regex(r"[0-9a-f]{64}\.(part|lock)")
_DAY = 86_400.0
# Other programs have folders of these names: what is in them is envsolve's only in a folder that is envsolve's own.
_SHARED_NAMES = ("conda", "virtualenv")
_OWN_NAME = "envsolve"


@record
class Kind:
    """What there is of one kind: files and their bytes on disk, without what folders take."""

    name: str
    what: str
    files: int
    size: int


@record
class Removed:
    """How many files were removed, and their bytes."""

    files: int
    size: int


class CacheFolder:
    """The files that envsolve has put below a folder, told from their places and names. Links are not followed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def kinds(self) -> list[Kind]:
        """Every kind of which there is something, in the order of the table above."""
        sizes: dict[str, list[int]] = {name: [] for name in _WHAT}
        for name, file in self._own():
            with contextlib.suppress(OSError):
                sizes[name].append(file.lstat().st_size)
        return [
            Kind(name=name, what=_WHAT[name], files=len(found), size=sum(found))
            for name, found in sizes.items()
            if found
        ]

    def clear(self) -> Removed:
        """Remove those files, and the folders that are empty then. Raises OutsideError for one that can't be removed.

        A file that another run removes meanwhile, or writes anew, is no error.
        """
        return self._remove([file for _, file in self._own()])

    def prune(self, days: float, *, now: float) -> Removed:
        """Remove the files that nothing has used for so many days before `now` (seconds); as `clear` otherwise.

        A download that broke off less than a day ago stays: the next run goes on with it. What conda and virtualenv
        keep stays as well: of their folders, some files would be of no use without the others.
        """
        found = [file for kind, file in self._own() if kind not in _SHARED_NAMES]
        return self._remove([file for file in found if now - _last_use(file) >= self._kept_for(file, days)])

    @staticmethod
    def _kept_for(file: Path, days: float) -> float:
        return max(days, 1.0) * _DAY if _DOWNLOAD.fullmatch(file.name) else days * _DAY

    def _remove(self, wanted: list[Path]) -> Removed:
        files = size = 0
        for file in wanted:
            try:
                bytes_here = file.lstat().st_size
                if not _taken_away(file):
                    continue
            except FileNotFoundError:
                continue
            except OSError as error:
                raise OutsideError(f"{file} can't be removed: {error.strerror}", hint="is it in use?") from error
            files, size = files + 1, size + bytes_here
        for top in self._tops():
            _remove_empty(top)
        return Removed(files=files, size=size)

    def _tops(self) -> list[Path]:
        """The folders directly below that hold something of envsolve's."""
        names = ["wheels", *(_SHARED_NAMES if self.path.name == _OWN_NAME else ())]
        try:
            found = sorted(self.path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise OutsideError(f"{self.path} can't be read: {error.strerror}") from error
        wanted = (path for path in found if path.name in names or _INDEX.fullmatch(path.name))
        return [path for path in wanted if path.is_dir() and not path.is_symlink()]

    def _own(self) -> Iterator[tuple[str, Path]]:
        """Every file of envsolve's, with its kind."""
        from envsolve.index.cache import FORMAT

        for top in self._tops():
            for file in _files(top):
                parts = file.relative_to(top).parts
                if top.name in _SHARED_NAMES:
                    yield top.name, file
                elif top.name == "wheels":
                    if _DOWNLOAD.fullmatch(parts[0]) if len(parts) == 1 else _SHA256.fullmatch(parts[0]):
                        yield top.name, file
                elif len(parts) in (2, 3) and parts[0] in _WHAT and _ENTRY.fullmatch(parts[-1]):
                    yield (parts[0] if top.name == FORMAT else "older"), file


def _files(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        yield from (Path(folder, name) for name in names)


def _last_use(file: Path) -> float:
    """When a file was last written, read (where the disk keeps that), or given to an installer; inf for one that left.

    The last is the time of a wheel's own folder: a new time on the file itself would make uv unpack it again.
    """
    try:
        stat = file.lstat()
        times = [stat.st_mtime, stat.st_atime]
        if _SHA256.fullmatch(file.parent.name):
            times.append(file.parent.stat().st_mtime)
    except OSError:
        return float("inf")
    return max(times)


def _taken_away(file: Path) -> bool:
    """Remove a file; a download that is under way, and its lock, stay."""
    if not _DOWNLOAD.fullmatch(file.name):
        file.unlink()
        return True
    from filelock import FileLock, Timeout

    lock = file.with_suffix(".lock")
    try:
        with FileLock(lock, timeout=0):
            file.unlink()
            if os.name != "nt":  # there, filelock does it itself
                lock.unlink(missing_ok=True)
    except Timeout:
        return False
    return True


def _remove_empty(top: Path) -> None:
    """Remove a folder and those below it that hold nothing."""
    for folder, _, _ in os.walk(top, topdown=False):
        with contextlib.suppress(OSError):  # not empty: something of others is in it
            Path(folder).rmdir()
