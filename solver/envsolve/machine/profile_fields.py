"""Field: one value of a profile with its path, and the checks that name that path when they fail."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast, get_args

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Arch, Finding, Os, Problem, Vendor
from envsolve.regex import regex

_PYTHON = regex(r"\d\.\d{1,2}(\.\d{1,3})?t?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """A value and where it stands ("machine.json: gpus[0].name"); None is always allowed and means unknown."""

    path: str
    value: Any

    def child(self, key: str) -> Field:
        """The value of a key; unknown (None) where it is missing."""
        joint = ": " if ": " not in self.path else "."
        return Field(f"{self.path}{joint}{key}", self.mapping().get(key))

    def mapping(self) -> Mapping[str, Any]:
        """The value as an object."""
        if not isinstance(self.value, dict):
            self._fail("an object")
        return cast("Mapping[str, Any]", self.value)

    def only(self, keys: Sequence[str]) -> None:
        """Refuse keys that mean nothing here; those that begin with x- are anyone's own."""
        for key in self.mapping():
            if key not in keys and not key.startswith("x-"):
                from difflib import get_close_matches

                near = get_close_matches(key, keys, n=1)
                hint = f"did you mean {near[0]}?" if near else "keys of your own begin with x-"
                raise InputError(f"{self.child(key).path}: unknown key", hint=hint)

    def items(self) -> list[Field]:
        """The entries of a list; none where it is missing."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            self._fail("a list")
        return [Field(f"{self.path}[{i}]", entry) for i, entry in enumerate(self.value)]

    def text(self) -> str | None:
        """The value as text."""
        if self.value is not None and not isinstance(self.value, str):
            self._fail("text or null")
        return self.value

    def boolean(self) -> bool | None:
        """The value as true or false."""
        if self.value is not None and not isinstance(self.value, bool):
            self._fail("true, false or null")
        return self.value

    def integer(self) -> int | None:
        """The value as a whole number from 0 on."""
        if self.value is not None and (type(self.value) is not int or self.value < 0):
            self._fail("a whole number or null")
        return self.value

    def os(self) -> Os | None:
        """The value as a system."""
        return cast("Os | None", self.one_of(*get_args(Os)))

    def arch(self) -> Arch | None:
        """The value as an architecture."""
        return cast("Arch | None", self.one_of(*get_args(Arch)))

    def vendor(self) -> Vendor | None:
        """The value as a vendor."""
        return cast("Vendor | None", self.one_of(*get_args(Vendor)))

    def one_of(self, *words: str) -> str | None:
        """The value as one of these words."""
        if self.value is not None and self.value not in words:
            self._fail(f"one of {', '.join(words)} or null")
        return self.text()

    def dotted(self) -> Dotted | None:
        """The value as a dotted version ("580.65.06")."""
        text = self.text()
        try:
            return None if text is None else Dotted.parse(text)
        except ValueError:
            self._fail('a dotted version such as "580.65.06" or null')

    def python(self) -> str | None:
        """The value as a Python version ("3.11" or "3.11.7")."""
        text = self.text()
        if text is not None and not _PYTHON.fullmatch(text):
            self._fail('a Python version such as "3.11" or null')
        return text

    def capability(self) -> Capability | None:
        """The value as a compute capability ("8.9")."""
        text = self.text()
        try:
            return None if text is None else Capability.parse(text)
        except ValueError:
            self._fail('a compute capability such as "8.9" or null')

    def finding(self) -> Finding:
        """The value as an entry of `findings`."""
        return Finding(field=self._word("field"), value=self._word("value"), source=self._word("source"))

    def problem(self) -> Problem:
        """The value as an entry of `problems`."""
        return Problem(code=self._word("code"), text=self._word("text"))

    def _word(self, key: str) -> str:
        field = self.child(key)
        return field.text() or ""

    def _fail(self, wanted: str) -> NoReturn:
        shown = repr(self.value)
        told = shown if len(shown) < 60 else shown[:57] + "..."
        raise InputError(
            f"{self.path}: {told} is not {wanted}", hint="envsolve detect -o machine.json writes a profile"
        )
