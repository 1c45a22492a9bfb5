"""The plain `install --lock` line: read as typer reads it, or left to it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envsolve.cli import group, quick, talk

PLAIN = (
    "install --lock a.txt --name x",
    "install --name x --lock a.txt --installer uv --verify later --json --index https://u:p@host/simple",
    "-q install --lock a.txt --path .venv --replace --installer pip-sync --verify now",
    "-v --quiet install --lock a.txt --name x --offline --refresh --cache-dir c --source pypi --mirror https://m",
    "install --lock a.txt --lock b.txt --name x --name y",
    "install --lock a.txt --name x --extra-index a --extra-index b --find-links 'a b' --find-links c",
    "install --lock 'a b.txt'",
    "install --lock ./a/../b.txt --name install",
)
LEFT = (
    "install --name x",
    "install torch --lock a.txt --name x",
    "install --lock=a.txt --name x",
    "install --lock a.txt --name",
    "install --lock a.txt --name ''",
    "install --lock a.txt --name --json",
    "install --lock a.txt --name x --help",
    "install --lock a.txt --name x --installer conda",
    "install --lock a.txt --name x --no-such-option",
    "install --lock a.txt --name x --manager conda",
    "install --lock a.txt --name x --target 'RTX 4090'",
    "install --lock a.txt -- --name x",
    "install --name x -- --lock a.txt",
    "--version install --lock a.txt",
    "upgrade --name install --lock a.txt",
    "",
)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the install was called with, how much is told among it."""
    calls: list[tuple[Any, ...]] = []

    def installed(wanted: object, **words: object) -> int:
        said = {name: value for name, value in words.items() if value not in (None, False)}
        calls.append((wanted, talk.level(), said))
        return 7

    monkeypatch.setattr("envsolve.cli.installed.installed", installed)
    return calls


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_read_as_typer_reads_it(line: str, called: list[tuple[Any, ...]]) -> None:
    argv = shlex.split(line)
    plain = quick.read(argv)
    assert plain is not None
    assert plain.run() == group.invoke(argv) == 7
    (wanted, level, said), (typers_wanted, typers_level, typers_said) = called
    assert (wanted, level) == (typers_wanted, typers_level)
    defaults = {"manager": "venv", "installer": "auto"}  # typer says them, too
    assert {**defaults, **said} == typers_said
    assert {name: type(value) for name, value in said.items()}.items() <= {
        name: type(value) for name, value in typers_said.items()
    }.items()


@pytest.mark.parametrize("line", LEFT)
def test_any_other_line_is_left_to_typer(line: str) -> None:
    assert quick.read(shlex.split(line)) is None


def test_an_install_from_a_lock_never_loads_typer(tmp_path: Path) -> None:
    code = "import sys; from envsolve.cli.app import run; code = run(sys.argv[1:]);print(code, 'typer' in sys.modules)"
    lock = str(tmp_path / "none.txt")
    done = subprocess.run(
        [sys.executable, "-c", code, "install", "--lock", lock, "--name", "x"], capture_output=True, text=True
    )
    assert done.stdout.split() == ["2", "False"]
    assert "can't read the lock" in done.stderr
