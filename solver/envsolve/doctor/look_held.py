"""Look, held: every distribution of an environment with what it asks for. Reads files and asks the interpreter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from envsolve.doctor.look_base import Base, base_of
from envsolve.doctor.look_files import local_path, named_by
from envsolve.doctor.look_place import Place
from envsolve.doctor.top_level import Held
from envsolve.regex import regex

_SECTION = regex(r"\[(?P<extra>[^:\]]*)(?::(?P<marker>[^\]]*))?\]")


def held(place: Place) -> tuple[Held, ...]:
    """The environment's own distributions. Raises OutsideError where there is none.

    The user's site counts where people install into it: with a Python that is no environment. What the system's package
    manager put there is not theirs.
    """
    found: dict[str, Held] = {}
    for site in own_sites(base_of(place), is_environment=place.is_environment):
        for one in _of_site(site):
            found.setdefault(one.name, one)
    return tuple(found.values())


def own_sites(base: Base, *, is_environment: bool) -> list[Path]:
    """The folders whose packages are the environment's; those of a Python that is none include the user's site."""
    prefix = Path(str(base.asked.get("prefix", "")))
    plain = not is_environment and base.asked.get("base_prefix") == base.asked.get("prefix")
    sites = [site for site in base.sites if plain or site.is_relative_to(prefix)]
    return [site for site in sites if site.parts[-3:] != ("lib", "python3", "dist-packages")]


def _of_site(site: Path) -> Iterator[Held]:
    for folder in sorted(site.glob("*.dist-info")) + sorted(site.glob("*.egg-info")):
        if folder.name.startswith("~") or not folder.is_dir():
            continue
        metadata = _metadata(folder)
        named = metadata["Name"], metadata["Version"]
        name, version = named if all(named) else named_by(folder)
        if name and version:
            url, project, editable = _origin(folder)
            yield Held(
                name=canonicalize_name(name),
                version=version,
                requires=tuple(metadata.get_all("Requires-Dist") or _old_requires(folder)),
                requested=(folder / "REQUESTED").exists(),
                url=url,
                folder=project,
                editable=editable,
            )
    yield from _linked(site)


def _linked(site: Path) -> Iterator[Held]:
    """Projects that an old setuptools links to (develop): their metadata lie beside their sources."""
    for link in sorted(site.glob("*.egg-link")):
        folder = _read(link).partition("\n")[0].strip()
        if folder and Path(folder).is_dir():
            info = next(iter(sorted(Path(folder).glob("*.egg-info"))), Path(folder) / "none")
            yield Held(
                name=canonicalize_name(link.stem),
                version=_metadata(info)["Version"] or "0",
                requires=tuple(_old_requires(info)),
                folder=folder,
                editable=True,
            )


def _metadata(folder: Path) -> Message:
    """Also of a file that is damaged, or not in UTF-8."""
    return HeaderParser().parsestr(_read(folder / "METADATA") or _read(folder / "PKG-INFO"))


def _old_requires(info: Path) -> Iterator[str]:
    """The requirements in an egg-info's requires.txt, its sections as markers."""
    extra, marker = "", ""
    for line in _read(info / "requires.txt").splitlines():
        if section := _SECTION.fullmatch(line.strip()):
            extra, marker = section["extra"], section["marker"] or ""
        elif line.strip():
            conditions = [f"({marker})"] if marker else []
            conditions += [f'extra == "{extra}"'] if extra else []
            yield " ; ".join([line.strip(), *([" and ".join(conditions)] if conditions else [])])


def _origin(folder: Path) -> tuple[str, str, bool]:
    """(address, folder of a local project, whether it is editable), by direct_url.json; ("", "", False) for what an
    index gave, and for what came from a folder or file that is no longer there: an index may have it."""
    if _read(folder / "INSTALLER").strip() == "conda":
        return "", "", False  # the folder of whoever built conda's package
    try:
        said = json.loads(_read(folder / "direct_url.json") or "{}")
        url = str(said["url"])
    except (ValueError, KeyError, TypeError):
        return "", "", False
    local = local_path(url)
    if local and not Path(local).exists():
        return "", "", False
    if "dir_info" in said:
        return "", local, bool(said["dir_info"].get("editable"))
    return _address(url, said), "", False


def _address(url: str, said: Mapping[str, Any]) -> str:
    """The address as a requirement writes it, down to the commit that is installed."""
    vcs = said.get("vcs_info") or {}
    if not vcs:
        return url
    part = f"#subdirectory={said['subdirectory']}" if said.get("subdirectory") else ""
    return f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', '')}{part}"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
