"""Files: what the dist-info folders and torch's own version file say, without running anything of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from envsolve.record import record
from envsolve.regex import regex

_FIELD = regex(r"^(Name|Version): *(.+?) *$", re.MULTILINE)
_REQUIRES = regex(r"^Requires-Dist: *(.+?) *$", re.MULTILINE)
_FOLDER = regex(r"([A-Za-z0-9][\w.]*)-(\d[\w.!+]*)\.dist-info$")
_VERSION_PY = {
    "version": regex(r"^__version__(?:: \w+)? = ['\"]([^'\"]+)", re.MULTILINE),
    "cuda": regex(r"^cuda(?:: [^=]+)? = (?:['\"]([^'\"]+)|None)", re.MULTILINE),
    "hip": regex(r"^hip(?:: [^=]+)? = (?:['\"]([^'\"]+)|None)", re.MULTILINE),
}


@record
class Dist:
    """An installed distribution: its version, who installed it and when (seconds since 1970), whether it was asked for
    by name, where its files came from where that is kept, its dist-info folder, and what its metadata requires."""

    name: str
    version: str
    site: Path
    info: Path
    installer: str
    installed_at: float
    requested: bool
    origin: str = ""
    requires: tuple[str, ...] = ()


@record
class VersionFile:
    """torch/version.py (or a companion's): the version with its label, and CUDA and HIP ("" = None in the file)."""

    version: str
    cuda: str | None
    hip: str | None


def dists(sites: Iterable[Path]) -> tuple[Dist, ...]:
    """Every distribution of these folders, in the order of the path."""
    return tuple(dist for site in sites for dist in sorted(_of_site(site), key=lambda d: d.name))


def _of_site(site: Path) -> Iterator[Dist]:
    try:
        folders = [
            p for p in site.iterdir() if p.name.endswith((".dist-info", ".egg-info")) and not p.name.startswith("~")
        ]
    except OSError:
        return
    for folder in folders:
        dist = _dist(folder, site)
        if dist is not None:
            yield dist


def _dist(folder: Path, site: Path) -> Dist | None:
    text = _read(folder / "METADATA") or _read(folder / "PKG-INFO") or ""
    head = text.partition("\n\n")[0]
    fields = dict(reversed(_FIELD.findall(head)))
    named = fields.get("Name"), fields.get("Version")
    name, version = named if all(named) else named_by(folder)
    if not name or not version:
        return None
    return Dist(
        name=canonicalize_name(name),
        version=version,
        site=site,
        info=folder,
        installer=(_read(folder / "INSTALLER") or "").strip(),
        installed_at=_time(folder),
        requested=(folder / "REQUESTED").exists(),
        origin=_origin(folder),
        requires=tuple(_REQUIRES.findall(head)),
    )


def named_by(folder: Path) -> tuple[str, str]:
    """(name, version) in the name of a dist-info folder, where its METADATA is gone or unreadable; else ("", "")."""
    found = _FOLDER.match(folder.name)
    return (found[1], found[2]) if found else ("", "")


def _time(folder: Path) -> float:
    """When it was installed: the RECORD is written last, and a wheel's own times are those of its build."""
    for file in (folder / "RECORD", folder):
        try:
            return file.stat().st_mtime
        except OSError:
            continue
    return 0.0


def _origin(folder: Path) -> str:
    try:
        return str(json.loads(_read(folder / "direct_url.json") or "{}").get("url", ""))
    except (ValueError, AttributeError):
        return ""


def local_path(url: str) -> str:
    """The path of a file: address; "" for others. urllib.request has this too, and takes 20 ms to import."""
    if not url.startswith("file:"):
        return ""
    path = unquote(urlsplit(url).path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def version_file(package: Path) -> VersionFile | None:
    """The version file of an unpacked package; None where there is none."""
    text = _read(package / "version.py")
    found = _VERSION_PY["version"].search(text) if text else None
    if text is None or found is None:
        return None
    values = {name: _VERSION_PY[name].search(text) for name in ("cuda", "hip")}
    cuda, hip = ((m[1] or "") if m else None for m in values.values())
    return VersionFile(version=found[1], cuda=cuda, hip=hip)


def conda_build(prefix: Path, name: str) -> str:
    """The build string of a conda package in this prefix; "" where conda has not installed it."""
    folder = prefix / "conda-meta"
    try:
        files = [p for p in folder.iterdir() if re.match(rf"{re.escape(name)}-\d", p.name) and p.suffix == ".json"]
    except OSError:
        return ""
    parts = files[0].stem.rsplit("-", 2) if files else []
    return parts[2] if len(parts) == 3 else ""


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
