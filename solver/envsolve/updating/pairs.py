"""Pairs: which torchvision and torchaudio belong to a torch that the rules don't know, by their wheels' metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from email.parser import BytesParser

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.errors import OutsideError
from envsolve.index.http import Http
from envsolve.rulebook.rulebook import Rulebook
from envsolve.updating.listed import Listed
from envsolve.updating.news import News

COMPANIONS = ("torchvision", "torchaudio")


def read_pairs(news: News, rulebook: Rulebook, http: Http) -> Mapping[Version, Mapping[str, tuple[Version, ...]]]:
    """For each new torch, the companions whose metadata takes it: new ones by their METADATA, known ones where the
    rules say that they pin no single torch. The newest come first."""
    takes = {name: [*_new(name, news.companions, http), *_open(name, rulebook)] for name in COMPANIONS}
    return {
        torch: {
            name: tuple(sorted((v for v, spec in takes[name] if spec.contains(torch)), reverse=True))
            for name in COMPANIONS
        }
        for torch in news.releases
    }


def _new(package: str, entries: Iterable[Listed], http: Http) -> list[tuple[Version, SpecifierSet]]:
    """What one file of each new version requires of torch; those whose METADATA is not offered tell nothing."""
    by_version = {e.version: e for e in entries if e.package == package and e.metadata}
    found = ((version, _requires(f"{entry.url}.metadata", http)) for version, entry in by_version.items())
    return [(version, spec) for version, spec in found if spec is not None]


def _requires(url: str, http: Http) -> SpecifierSet | None:
    """The specifier of torch in a METADATA file; None where it can't be read."""
    try:
        reply = http.get(url, passes=(403, 404))
    except OutsideError:
        return None
    if reply.status != 200:
        return None
    lines = BytesParser().parsebytes(reply.body, headersonly=True).get_all("Requires-Dist") or []
    return next((r.specifier for r in map(_requirement, lines) if r is not None and r.name == "torch"), None)


def _requirement(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _open(package: str, rulebook: Rulebook) -> list[tuple[Version, SpecifierSet]]:
    """Known companions that take newer torches; one whose metadata says nothing takes those from its own minor on."""
    rows = [row for row in rulebook.open_pins if row.package == package]
    return [(row.version, _taken(row.requires, row.version)) for row in rows]


def _taken(requires: str | None, version: Version) -> SpecifierSet:
    told = Requirement(requires).specifier if requires else SpecifierSet()
    return told if str(told) else SpecifierSet(f">={version.major}.{version.minor}")
