"""The README tells the truth: its plans are run and compared, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\n(\$ envsolve plan .*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: str(b).splitlines()[0])
def test_a_transcript_is_what_the_command_prints(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line of dots stands for lines that are left out."""
    command, _, shown = block.partition("\n")
    run(shlex.split(command)[2:])
    printed = capsys.readouterr().out
    pieces = [re.escape(piece) for piece in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    assert re.fullmatch(r"(?:.*\n)*?".join(pieces) + r"(?:.*\n)*", printed), printed


def test_there_are_transcripts_of_a_plan_and_of_a_refusal() -> None:
    assert len(BLOCKS) == 2


def test_the_table_names_every_command() -> None:
    named = set(re.findall(r"^\| `envsolve ([a-z-]+)", README, re.MULTILINE))
    assert named == set(COMMANDS)


def test_links_and_paths_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert links and all((ROOT / link).exists() for link in links)
    assert (ROOT / "tools/check.py").is_file()
    assert "python3 tools/check.py" in README and "tools/check.py" in (ROOT / ".ci/run").read_text(encoding="utf-8")
