"""Look, held: every distribution of an environment with what it asks for. Reads files and asks the interpreter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.utils import canonicalize_name

from envsolve.doctor.look_base import base_of
from envsolve.doctor.look_files import named_by
from envsolve.doctor.look_place import Place
from envsolve.doctor.top_level import Held


def held(place: Place) -> tuple[Held, ...]:
    """The environment's own distributions, the user's site left out. Raises OutsideError where there is none."""
    base = base_of(place)
    prefix = Path(str(base.asked.get("prefix", "")))
    sites = [site for site in base.sites if site.is_relative_to(prefix)]
    found: dict[str, Held] = {}
    for site in sites:
        for one in _of_site(site):
            found.setdefault(one.name, one)
    return tuple(found.values())


def _of_site(site: Path) -> Iterator[Held]:
    for folder in sorted(site.glob("*.dist-info")) + sorted(site.glob("*.egg-info")):
        if folder.name.startswith("~") or not folder.is_dir():
            continue
        metadata = PathDistribution(folder)
        named = metadata.metadata["Name"], metadata.metadata["Version"]
        name, version = named if all(named) else named_by(folder)
        if name and version:
            url, project = _origin(metadata)
            yield Held(
                name=canonicalize_name(name),
                version=version,
                requires=tuple(metadata.requires or ()),
                requested=(folder / "REQUESTED").exists(),
                url=url,
                folder=project,
            )


def _origin(metadata: PathDistribution) -> tuple[str, str]:
    """(address, "") or ("", folder of a local project), by direct_url.json; both "" for what an index gave."""
    try:
        said = json.loads(metadata.read_text("direct_url.json") or "{}")
        url = str(said["url"])
    except (ValueError, KeyError, TypeError):
        return "", ""
    if "dir_info" in said:
        return "", url2pathname(urlsplit(url).path)
    return _address(url, said), ""


def _address(url: str, said: Mapping[str, Any]) -> str:
    """The address as a requirement writes it, down to the commit that is installed."""
    vcs = said.get("vcs_info") or {}
    if not vcs:
        return url
    part = f"#subdirectory={said['subdirectory']}" if said.get("subdirectory") else ""
    return f"{vcs.get('vcs', 'git')}+{url}@{vcs.get('commit_id', '')}{part}"
