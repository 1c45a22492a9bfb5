"""What people read: the whole text of `envsolve plan`, kept in tests/fixtures/plan_text (tools/plan_texts.py rewrites
them after a change that is meant). Each file begins with its command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from envsolve.cli.app import run

TEXTS = sorted((Path(__file__).parents[1] / "fixtures" / "plan_text").glob("*.txt"))
ONE_SCREEN = 40  # lines


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_whole_text(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("a plan asked the network")

    monkeypatch.setattr("socket.socket.connect", no_network)
    command, _, text = path.read_text(encoding="utf-8").partition("\n")
    words = shlex.split(command)
    assert words[:3] == ["$", "envsolve", "plan"]
    assert run(words[2:]) == (1 if text.startswith(("no build runs", "more must be known")) else 0)
    assert capsys.readouterr().out == text
    if "--explain" not in words:
        assert text.count("\n") <= ONE_SCREEN
