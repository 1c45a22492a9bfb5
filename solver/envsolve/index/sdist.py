"""What a source archive says of itself, read without running any of its code."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO

from envsolve.errors import OutsideError
from envsolve.regex import regex

_DEPTH = 3  # root/PKG-INFO, root/NAME.egg-info/requires.txt, root/src/NAME.egg-info/requires.txt
_WANTED = regex(r"(PKG-INFO|pyproject\.toml|(src/)?[^/]+\.egg-info/requires\.txt)")
_MOST_BYTES = 4 << 20  # of one of these files
_SECTION = regex(r"\[(?P<extra>[^:\]]*)(?::(?P<marker>.*))?\]")


def sdist_metadata(archive: IO[bytes], filename: str, where: str) -> bytes:
    """METADATA of a source archive: its PKG-INFO, with the requirements from where they are told.

    These are PKG-INFO's own, else those that setuptools wrote beside it, else the static ones of pyproject.toml. What
    only a build would tell stays out. Raises OutsideError for what is no source archive.
    """
    try:
        files = _from_zip(archive) if filename.endswith(".zip") else _from_tar(archive)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, RuntimeError) as error:
        raise OutsideError(f"{where} is not a source archive: {error}") from error
    info = files.get("PKG-INFO")
    if info is None:
        raise OutsideError(f"{where} is a source archive without PKG-INFO")
    head, _, _ = info.decode("utf-8", errors="replace").replace("\r\n", "\n").partition("\n\n")
    lines = () if _is_complete(head) else _told_elsewhere(files)
    return ("\n".join([head.rstrip("\n"), *lines]) + "\n").encode()


def _is_complete(head: str) -> bool:
    """Whether PKG-INFO tells the requirements: it has some, or its version says that none are missing."""
    if re.search(r"^Requires-Dist:", head, re.MULTILINE):
        return True
    version = re.search(r"^Metadata-Version: (\d+)\.(\d+)", head, re.MULTILINE)
    dynamic = re.search(r"^Dynamic: *Requires-Dist", head, re.MULTILINE | re.IGNORECASE)
    return version is not None and (int(version[1]), int(version[2])) >= (2, 2) and dynamic is None


def _told_elsewhere(files: Mapping[str, bytes]) -> Iterator[str]:
    requires = next((text for name, text in files.items() if name.endswith("requires.txt")), None)
    if requires is not None:
        yield from _from_requires_txt(requires.decode("utf-8", errors="replace"))
    elif "pyproject.toml" in files:
        yield from _from_pyproject(files["pyproject.toml"])


def _from_requires_txt(text: str) -> Iterator[str]:
    """setuptools' own file: sections named by extra and marker, a requirement a line."""
    extra = marker = ""
    for line in map(str.strip, text.splitlines()):
        section = _SECTION.fullmatch(line)
        if section:
            extra, marker = section["extra"].strip(), (section["marker"] or "").strip()
            if extra:
                yield f"Provides-Extra: {extra}"
        elif line and not line.startswith("#"):
            yield f"Requires-Dist: {line}{_condition(marker, extra)}"


def _condition(marker: str, extra: str) -> str:
    parts = [f"({marker})"] if marker else []
    parts += [f'extra == "{extra}"'] if extra else []
    return f" ; {' and '.join(parts)}" if parts else ""


def _from_pyproject(content: bytes) -> Iterator[str]:
    try:
        project = tomllib.loads(content.decode("utf-8", errors="replace")).get("project", {})
    except tomllib.TOMLDecodeError:
        return
    if "dependencies" not in project.get("dynamic", ()):
        yield from (f"Requires-Dist: {line}" for line in project.get("dependencies", ()))


def _from_tar(archive: IO[bytes]) -> dict[str, bytes]:
    with tarfile.open(fileobj=archive, mode="r:gz") as tar:
        members = ((m.name, m.size, _reader(tar, m)) for m in tar if m.isfile())
        return _collect(members)


def _reader(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        file = tar.extractfile(member)
        return file.read() if file else b""

    return read


def _from_zip(archive: IO[bytes]) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        members = ((e.filename, e.file_size, lambda e=e: opened.read(e)) for e in opened.infolist())
        return _collect(members)


def _collect(members: Iterator[tuple[str, int, Callable[[], bytes]]]) -> dict[str, bytes]:
    """The files that tell something, by their names below the archive's one folder."""
    found: dict[str, bytes] = {}
    for name, size, read in members:
        below = name.partition("/")[2]
        if name.count("/") <= _DEPTH and size <= _MOST_BYTES and _WANTED.fullmatch(below):
            found.setdefault(below, read())
    return found
