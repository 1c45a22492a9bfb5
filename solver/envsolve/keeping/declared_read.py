"""Read .envsolve.toml. Every mistake names its place; an unknown key names the nearest known one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from envsolve.errors import InputError
from envsolve.keeping.declared import FILE, SCHEMA, Declared, DeclaredTarget
from envsolve.regex import regex

_TOP = ("schema", "requirements", "constraints", "extras", "groups", "locks", "variants", "sdists", "targets")
_TARGET = ("machine", "locks", "variants", "gpus")
_VARIANT = regex(r"cpu|xpu|cu\d{2,3}|rocm\d+(\.\d+)*")
_GPUS = regex(r"all|best|\d+(,\d+)*")


def parse_declared(text: str, *, origin: str = FILE) -> Declared:
    """The Declared of a file's text. Raises InputError with `origin` and the key."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin}: {error}", hint="envsolve init writes one") from error
    return _Reader(document, origin).declared()


class _Reader:
    def __init__(self, document: Mapping[str, Any], origin: str) -> None:
        self._document = document
        self._origin = origin

    def declared(self) -> Declared:
        top = self._document
        self._check_schema(top.get("schema"))  # first: a newer file may well have other keys
        self._check_keys(top, _TOP, "")
        requirements = self._texts(top, "requirements", "")
        if not requirements:
            raise self._wrong("requirements", "names no file", 'requirements = ["requirements.in"]')
        declared = Declared(
            requirements=requirements,
            targets=tuple(self._target(table, n) for n, table in enumerate(self._tables(top))),
            locks=self._texts(top, "locks", ""),
            constraints=self._texts(top, "constraints", ""),
            extras=self._texts(top, "extras", ""),
            groups=self._texts(top, "groups", ""),
            variants=self._variants(top, ""),
            sdists=self._flag(top, "sdists"),
        )
        self._check_locks(declared)
        return declared

    def _check_schema(self, found: object) -> None:
        if found is None:
            raise self._wrong("schema", "is not there", f"schema = {SCHEMA}")
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise self._wrong("schema", f"is not a number: {found!r}", f"schema = {SCHEMA}")
        if found > SCHEMA:
            raise self._wrong("schema", f"{found} is of a newer envsolve", "pip install --upgrade envsolve")

    def _target(self, table: object, number: int) -> DeclaredTarget:
        place = f"targets[{number}]"
        if not isinstance(table, Mapping):
            raise self._wrong(place, "is not a table", '[[targets]] machine = "RTX 4090,driver=550.54.14"')
        self._check_keys(table, _TARGET, f"{place}.")
        machine = table.get("machine")
        if not isinstance(machine, str) or not machine.strip():
            raise self._wrong(f"{place}.machine", "says no machine", 'machine = "RTX 4090,driver=550.54.14"')
        gpus = table.get("gpus", "all")
        if not isinstance(gpus, str) or not _GPUS.fullmatch(gpus):
            raise self._wrong(f"{place}.gpus", f"is not all, best or indexes: {gpus!r}", 'gpus = "0,1"')
        locks, variants = self._texts(table, "locks", f"{place}."), self._variants(table, f"{place}.")
        return DeclaredTarget(machine=machine, locks=locks, variants=variants, gpus=gpus)

    def _tables(self, top: Mapping[str, Any]) -> Sequence[object]:
        found = top.get("targets", [])
        if not isinstance(found, list) or not found:
            raise self._wrong("targets", "names no machine", '[[targets]] machine = "RTX 4090,driver=550.54.14"')
        return found

    def _texts(self, table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, str) and item for item in found):
            raise self._wrong(f"{place}{key}", f"is not a list of texts: {found!r}", f'{key} = ["…"]')
        return tuple(found)

    def _variants(self, table: Mapping[str, Any], place: str) -> tuple[str, ...]:
        found = self._texts(table, "variants", place)
        for variant in found:
            if not _VARIANT.fullmatch(variant):
                raise self._wrong(f"{place}variants", f"has {variant!r}, which is no variant", 'variants = ["cu126"]')
        return found

    def _flag(self, table: Mapping[str, Any], key: str) -> bool:
        found = table.get(key, False)
        if not isinstance(found, bool):
            raise self._wrong(key, f"is neither true nor false: {found!r}", f"{key} = true")
        return found

    def _check_locks(self, declared: Declared) -> None:
        for number, target in enumerate(declared.targets):
            if not declared.locks_of(target):
                raise self._wrong(f"targets[{number}]", "has no lock", 'locks = ["requirements.lock.txt"]')

    def _check_keys(self, table: Mapping[str, Any], known: Sequence[str], place: str) -> None:
        unknown = next((key for key in table if key not in known), None)
        if unknown is None:
            return
        from difflib import get_close_matches

        near = get_close_matches(unknown, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known keys: {' '.join(known)}"
        raise InputError(f"{self._origin}: unknown key {place}{unknown}", hint=hint)

    def _wrong(self, place: str, what: str, hint: str) -> InputError:
        return InputError(f"{self._origin}: {place} {what}", hint=hint)
