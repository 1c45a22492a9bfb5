"""The compiled rules: derived from the YAML, byte for byte, and never edited."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from envsolve.rulebook.compiled import parse, render
from envsolve.rulebook.compiler import compile_core
from envsolve.rulebook.load import rules_dir
from envsolve.rulebook.source import read_rules

TOOL = Path(__file__).resolve().parents[3] / "tools/compile_rules.py"


def test_the_committed_files_are_what_the_sources_say() -> None:
    files = runpy.run_path(str(TOOL))["compiled_files"]()
    for name, text in files.items():
        committed = (rules_dir() / "compiled" / name).read_text(encoding="utf-8")
        assert committed == text, f"{name}: run tools/compile_rules.py"


def test_compiling_and_reading_back_keeps_everything() -> None:
    compiled = compile_core(read_rules(rules_dir()))
    assert parse(render(compiled)) == compiled
    assert compiled.digest in render(compiled)


def test_nothing_below_the_rules_is_python() -> None:
    assert not list(rules_dir().rglob("*.py"))


def test_the_tool_refuses_bad_rules(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tool = runpy.run_path(str(TOOL))
    tool["main"].__globals__["RULES"] = tmp_path
    tool["main"].__globals__["compiled_files"].__defaults__ = (tmp_path,)
    assert tool["main"](["--check"]) == 2
    assert "torch/builds.yaml: cannot be read" in capsys.readouterr().err
