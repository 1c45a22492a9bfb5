"""From news to an overlay of the rules: rows as the rules' tables have them, each saying which index told it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from packaging.version import Version

from envsolve.rulebook.overlay import FORMAT
from envsolve.rulebook.rulebook import Rulebook
from envsolve.updating.listed import Listed
from envsolve.updating.news import NewPython, News
from envsolve.updating.wheel_code import WheelCode

Codes = Mapping[Listed, WheelCode]
Pairs = Mapping[Version, Mapping[str, tuple[Version, ...]]]  # torch -> package -> versions, best first


def overlay_of(news: News, rulebook: Rulebook, source: str, *, codes: Codes, pairs: Pairs) -> dict[str, Any]:
    """The overlay. `codes` holds what wheels that were read tell; every other new CUDA build has unknown targets."""
    tables: dict[str, Any] = {
        "releases": {},
        "builds": {},
        "other_builds": {},
        "companions": {},
        "companion_builds": {},
    }
    for version in news.releases:
        tables["releases"][str(version)] = _told(source)
    for entry in news.builds:
        table = "builds" if entry.variant.startswith("cu") else "other_builds"
        _put(tables[table], (str(entry.version), entry.variant, entry.platform), _build(entry, rulebook, source, codes))
    for new in news.pythons:
        entry = new.listed
        table = "builds" if entry.variant.startswith("cu") else "other_builds"
        _put(tables[table], (str(entry.version), entry.variant, entry.platform), _pythons(new))
    for entry in news.companions:
        keys = (entry.package, str(entry.version), entry.variant, entry.platform)
        _put(tables["companion_builds"], keys, _companion(entry, source))
    for torch, versions in pairs.items():
        listed = {name: " ".join(map(str, found)) for name, found in versions.items()}
        tables["companions"][str(torch)] = {"torchvision": "", "torchaudio": "", **listed, **_told(source)}
    return {"format": FORMAT, "source": source, "tables": tables}


def keep_read(overlay: dict[str, Any], former: Mapping[str, Any]) -> None:
    """Carry over what wheels were read for a former overlay, where the new one has not read them."""
    for torch, variants in former["tables"].get("builds", {}).items():
        for variant, platforms in variants.items():
            for platform, row in platforms.items():
                new = overlay["tables"]["builds"].get(torch, {}).get(variant, {})
                if row.get("targets_known") and platform in new and not new[platform].get("targets_known"):
                    new[platform] = {**row, "python": new[platform]["python"]}


def _put(tree: dict[str, Any], keys: Iterable[str], row: Mapping[str, Any]) -> None:
    *above, last = keys
    for key in above:
        tree = tree.setdefault(key, {})
    tree[last] = row


def _told(source: str) -> dict[str, Any]:
    return {"certainty": "medium", "source": source}


def _build(entry: Listed, rulebook: Rulebook, source: str, codes: Codes) -> dict[str, Any]:
    minors = entry.pythons or entry.freethreaded or ("3.0",)
    row = {
        "python": f"{minors[0]} {minors[-1]}",
        "freethreaded": " ".join(entry.freethreaded),
        "glibc_min": entry.glibc or _glibc(entry, rulebook),
        "local_tag": entry.local_tag,
        "folder": entry.variant,
        **_told(source),
    }
    if not entry.variant.startswith("cu"):
        return {**row, "accelerator": "mps"} if entry.platform == "macos_arm64" else row
    code = codes.get(entry)
    if code is None or not code.targets_read:
        return {**row, "sm": "", "ptx": "", "targets_known": False, "note": "nobody has read its targets yet"}
    read = f"{source}; its wheel was read"
    return {**row, "sm": " ".join(code.sm), "ptx": " ".join(code.ptx), "targets_known": True, "source": read}


def _glibc(entry: Listed, rulebook: Rulebook) -> str | None:
    """Where no tag tells it: that of the newest build of the same kind."""
    if not entry.platform.startswith("linux"):
        return None
    known = [b.glibc_min for b in rulebook.builds_on(entry.platform) if b.glibc_min is not None]
    return str(known[-1]) if known else None


def _pythons(new: NewPython) -> dict[str, Any]:
    return {"python": " ".join(new.pythons), "freethreaded": " ".join(new.freethreaded)}


def _companion(entry: Listed, source: str) -> dict[str, Any]:
    return {
        "python": " ".join(entry.pythons),
        "freethreaded": " ".join(entry.freethreaded),
        "local_tag": entry.local_tag,
        **_told(source),
    }
