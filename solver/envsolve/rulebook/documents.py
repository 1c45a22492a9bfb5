"""Documents: rules files without a table's form. Checked for what every rule must have: a source that is known, and a
certainty that is one of three."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envsolve.rulebook.fields import Wrong
from envsolve.rulebook.schema import CERTAINTY, Document
from envsolve.rulebook.yaml_file import Mistake, SourceNames, load_yaml, source_names


def read_document(folder: Path, document: Document, mistakes: list[Mistake]) -> Any:
    """The content of a document, the names of sources replaced by their texts; mistakes are collected."""
    content = load_yaml(folder / document.file, document.file, mistakes)
    if content is None:
        return {}
    sources = source_names(content.pop("sources", {}), document.file, mistakes)
    spelt = _spelt(content, f"{document.file}: ", sources, mistakes)
    mistakes += [Mistake(f"{document.file}: sources/{name}", "no row uses it") for name in sources.unused()]
    return spelt


def _spelt(value: Any, path: str, sources: SourceNames, mistakes: list[Mistake]) -> Any:
    if isinstance(value, list):
        return [_spelt(item, f"{path}[{position}]", sources, mistakes) for position, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "certainty" in value and "source" not in value:
        mistakes.append(Mistake(path, "a certainty without a source"))
    return {key: _field(key, item, _below(path, key), sources, mistakes) for key, item in value.items()}


def _field(key: str, value: Any, path: str, sources: SourceNames, mistakes: list[Mistake]) -> Any:
    # Inside a requirement or a file name "source" may mean something else: only texts and lists name sources.
    reader = {"source": sources.read, "certainty": CERTAINTY.read}.get(key)
    if reader is None or isinstance(value, dict):
        return _spelt(value, path, sources, mistakes)
    try:
        return reader(value)
    except Wrong as wrong:
        mistakes.append(Mistake(f"{path}{wrong.at}", wrong.text))
        return value


def _below(path: str, key: object) -> str:
    return f"{path}{key}" if path.endswith(" ") else f"{path}.{key}"
