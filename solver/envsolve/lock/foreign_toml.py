"""uv.lock, poetry.lock, pdm.lock and pylock.toml: tables called package, each with a name and a version."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envsolve.errors import InputError
from envsolve.lock.addresses import filename_of
from envsolve.lock.foreign_pin import Foreign, ForeignPin, judged, only, variant_in

Table = Mapping[str, Any]


def read(text: str, filename: str) -> Foreign:
    """The Foreign behind such a lock. Raises InputError for what is not TOML, or no lock."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{filename}: {error}") from error
    packages = document.get("package", document.get("packages"))
    if not isinstance(packages, list):
        raise InputError(
            f"{filename} is not a lock: it has no [[package]]",
            hint="--from takes uv.lock, poetry.lock, pylock.toml, environment.yml or requirements.txt",
        )
    pins = [_pin(table, filename, number) for number, table in enumerate(packages) if _is_judged(table)]
    return Foreign(tool=_tool(document, text), pins=only(pins), pythons=tuple(_pythons(document, filename)))


def _is_judged(table: Any) -> bool:
    return isinstance(table, Mapping) and isinstance(table.get("name"), str) and judged(table["name"])


def _tool(document: Table, text: str) -> str:
    if "lock-version" in document:
        return str(document.get("created-by", "another tool"))
    first = text.partition("\n")[0].lower()
    named = next((tool for tool in ("poetry", "pdm") if tool in first), None)
    if named:
        return named
    return "poetry" if "content-hash" in document.get("metadata", {}) else "uv"


def _pin(table: Table, filename: str, number: int) -> ForeignPin:
    name, version = table["name"], table.get("version")
    where = f"{filename}: package[{number}] ({name})"
    try:
        versions = SpecifierSet(f"=={version}")
    except InvalidSpecifier:
        raise InputError(f"{where}: not a version: {version!r}") from None
    return ForeignPin(
        name=name,
        versions=versions,
        where=where,
        variant=next(filter(None, map(variant_in, _addresses(table))), ""),
        markers=tuple(_markers(table)),
        wheels=tuple(_wheels(table)),
    )


def _addresses(table: Table) -> Iterator[str]:
    """Where the package comes from: uv's registry or URL, poetry's source, the index of PEP 751, the files."""
    source = table.get("source", {})
    if isinstance(source, Mapping):
        yield from (source[key] for key in ("registry", "url") if isinstance(source.get(key), str))
    if isinstance(table.get("index"), str):
        yield table["index"]
    yield from (file["url"] for file in _files(table) if isinstance(file.get("url"), str))


def _files(table: Table) -> Iterator[Table]:
    for key in ("wheels", "files"):
        entries = table.get(key, ())
        yield from (entry for entry in entries if isinstance(entry, Mapping)) if isinstance(entries, list) else ()


def _wheels(table: Table) -> Iterator[str]:
    for entry in _files(table):
        name = entry.get("name") or entry.get("file") or filename_of(str(entry.get("url", "")))
        if isinstance(name, str) and name.endswith(".whl"):
            yield name


def _markers(table: Table) -> Iterator[str]:
    """uv lists the forks that take a package, poetry a marker for all or one for each group, PEP 751 one."""
    for key in ("resolution-markers", "markers", "marker"):
        found = table.get(key, ())
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping):
            yield from _texts(found.values())
        else:
            yield from _texts(found)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))


def _pythons(document: Table, filename: str) -> Iterator[tuple[str, SpecifierSet]]:
    found = document.get("requires-python") or document.get("metadata", {}).get("python-versions")
    if isinstance(found, str) and found != "*":
        try:
            yield f"{filename}: requires-python", SpecifierSet(_as_specifiers(found))
        except InvalidSpecifier:
            return  # poetry's own ways to write versions that have no counterpart


def _as_specifiers(text: str) -> str:
    """poetry's ^3.11 and ~3.11 in the standard's words."""
    caret = re.fullmatch(r"\^(\d+)((?:\.\d+)*)", text.strip())
    if caret:
        return f">={caret[1]}{caret[2]},<{int(caret[1]) + 1}"
    tilde = re.fullmatch(r"~(\d+\.\d+)(\.\d+)*", text.strip())
    return f"=={tilde[1]}.*" if tilde else text
