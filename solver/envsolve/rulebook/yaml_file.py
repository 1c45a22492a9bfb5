"""YAML file: a rules file as plain values, its mistakes, and the names of its sources. Only this knows YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from envsolve.errors import InputError
from envsolve.record import field, record
from envsolve.regex import regex
from envsolve.rulebook import fields
from envsolve.rulebook.fields import Wrong

# A source that looks like this is the name of an entry of the file's `sources`; any other text speaks for itself.
_SOURCE_NAME = regex(r"[a-z0-9._-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in the rules: the path of the bad field and what is wrong there."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class RulesError(InputError):
    """The rules have mistakes; `mistakes` holds all of them."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        lines = "\n".join(f"  {mistake}" for mistake in self.mistakes)
        count = f"{len(self.mistakes)} mistake{'s' if len(self.mistakes) != 1 else ''}"
        super().__init__(f"{count} in the rules\n{lines}", hint="correct the files below rules/")


@record
class SourceNames:
    texts: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def read(self, value: object) -> str:
        """The text of one source or of several, names replaced by what they stand for."""
        parts = fields.texts(value) if isinstance(value, list) else [fields.text(value)]
        return "; ".join(self._one(part) for part in parts)

    def _one(self, part: str) -> str:
        self.used.add(part)
        if part in self.texts:
            return self.texts[part]
        if _SOURCE_NAME.fullmatch(part):
            raise Wrong(f"no source is named {part!r} in this file")
        return part

    def unused(self) -> list[str]:
        return [name for name in self.texts if name not in self.used]


def source_names(value: object, file: str, mistakes: list[Mistake]) -> SourceNames:
    if not isinstance(value, dict):
        mistakes.append(Mistake(f"{file}: sources", "expected a mapping of names and texts"))
        return SourceNames(texts={})
    for name, text in value.items():
        if not isinstance(text, str) or not _SOURCE_NAME.fullmatch(str(name)):
            mistakes.append(Mistake(f"{file}: sources/{name}", "expected a name of a-z, 0-9, ., _ and -, and a text"))
    return SourceNames(texts={str(name): str(text) for name, text in value.items()})


def load_yaml(path: Path, file: str, mistakes: list[Mistake]) -> dict[str, Any] | None:
    """One file, as plain values; None and a mistake where it is no mapping of sections."""
    try:
        with path.open(encoding="utf-8") as stream:
            loader = _Loader(stream)
            try:
                content = loader.get_single_data()
            finally:
                loader.dispose()
    except OSError as error:
        mistakes.append(Mistake(file, f"cannot be read: {error.strerror}"))
        return None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mistakes.append(Mistake(file, f"not YAML: {error}"))
        return None
    mistakes += [Mistake(f"{file}: line {line}", f"{key!r} is there twice") for key, line in loader.doubles]
    if not isinstance(content, dict):
        mistakes.append(Mistake(file, "expected a mapping of sections"))
        return None
    return content


class _Loader(yaml.SafeLoader):
    """YAML without its traps: 3.10 and 2026-11-30 stay text, `no` is a word, and a key given twice is noticed."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.doubles: list[tuple[object, int]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str | int) and key in seen:
                self.doubles.append((key, key_node.start_mark.line + 1))
            seen.add(str(key) if isinstance(key, list | dict) else key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {}
for _tag, _form, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null", "n"),
    ("int", r"0|[1-9][0-9]*", "0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), list(_first))
