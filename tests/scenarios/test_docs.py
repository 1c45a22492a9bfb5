"""docs/: every command that needs neither a GPU nor the network is run, and the pages are built with checked links."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.cli.commands import COMMANDS
from envsolve.doctor.finding import CODES
from envsolve.keeping.declared_read import parse_declared
from envsolve.keeping.finding import PROBLEMS, WARNINGS
from fakes.doc_pages import DOCS, Page, pages

PAGES = pages()


@pytest.mark.parametrize("page", [page for page in PAGES if page.commands], ids=lambda page: page.name)
def test_the_commands_of_a_page_do_what_it_says(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in page.files.items():
        Path(name).write_text(text, encoding="utf-8")
    for command in page.commands:
        words = shlex.split(command.line)
        if command.needs or words[0] != "envsolve":
            continue
        if not any(word.startswith(("--target", "--report", "--help")) for word in words) and words[1] == "plan":
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # this machine, whatever it is
            assert run(words[1:]) in (0, 1, 2)
            capsys.readouterr()
            continue
        assert run(words[1:]) == command.code, command.line
        said = capsys.readouterr()
        told = [line.strip() for line in (said.out + said.err).splitlines()]
        for line in command.shown:
            assert any(heard.startswith(line.strip()) for heard in told), (
                f"{command.line}\n{line}\n{said.out}{said.err}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_only_commands_and_options_that_there_are(page: Page) -> None:
    text = (DOCS / page.name).read_text(encoding="utf-8")
    for name in re.findall(r"\benvsolve ([a-z-]+)\b", text):
        assert name in COMMANDS or name in _PROSE, name
    for command in page.commands:
        words = shlex.split(command.line)
        if words[0] != "envsolve":
            continue
        flags = {word.split("=")[0] for word in words if word.startswith("--")} - {"--help"}
        assert flags <= _flags(words[1]), command.line


_PROSE = {"looks", "never", "adds", "needs"}


def _flags(name: str) -> set[str]:
    import importlib

    module, _ = COMMANDS[name]
    source = Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8")
    found = set(re.findall(r'"(--[a-z-]+)"', source))
    for shared in ("asked", "options"):
        shared_source = Path(importlib.import_module(f"envsolve.cli.{shared}").__file__ or "").read_text("utf-8")
        found |= set(re.findall(r'"(--[a-z-]+)"', shared_source))
    return found


def test_every_code_of_the_doctor_has_its_row_and_no_other() -> None:
    text = (DOCS / "errors" / "doctor-codes.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", text, re.MULTILINE)) == CODES


def test_every_code_of_check_has_its_row_and_no_other() -> None:
    text = (DOCS / "errors" / "check-codes.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", text, re.MULTILINE)) == {**PROBLEMS, **WARNINGS}


def test_the_declaration_that_is_shown_is_one() -> None:
    (shown,) = re.findall(r"```toml\n(schema = .*?)```", (DOCS / "teams.md").read_text("utf-8"), re.DOTALL)
    assert [target.variants for target in parse_declared(shown).targets] == [(), ("cpu",)]


def test_every_page_is_short() -> None:
    assert all(len((DOCS / page.name).read_text(encoding="utf-8").splitlines()) < 110 for page in PAGES)


@pytest.mark.slow
def test_the_site_builds_and_no_link_is_broken(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=DOCS.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "errors" / "no-kernel-image.html").is_file()
