"""regex: compiled late, and otherwise what re.compile gives."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import envsolve
from envsolve.regex import regex

ROOT = Path(envsolve.__file__).parent
MODULES = sorted(
    ".".join(("envsolve", *path.relative_to(ROOT).with_suffix("").parts))
    for path in ROOT.rglob("*.py")
    if "= regex(" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_every_pattern_compiles(module: str) -> None:
    lazy = type(regex(""))
    found = [value for value in vars(import_module(module)).values() if isinstance(value, lazy)]
    assert found
    for one in found:
        assert re.compile(one.pattern)


def test_it_does_what_a_compiled_one_does() -> None:
    late, early = regex(r"(a)|b", re.IGNORECASE), re.compile(r"(a)|b", re.IGNORECASE)
    text = "xAyb"
    assert late.findall(text) == early.findall(text) and late.split(text) == early.split(text)
    assert late.sub("-", text) == early.sub("-", text) == "x-y-"
    assert late.match("b") and not late.fullmatch(text) and [m[0] for m in late.finditer(text)] == ["A", "b"]
    with pytest.raises(AttributeError):
        late.no_such_thing  # type: ignore[attr-defined]  # noqa: B018


def test_a_broken_one_fails_when_it_is_used() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("")
