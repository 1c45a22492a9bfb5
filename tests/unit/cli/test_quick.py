"""A plain command line: read as typer reads it, or left to it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envsolve.cli import group, quick, talk
from envsolve.cli.command_app import Command, CommandApp
from envsolve.cli.commands import COMMANDS

PLAIN = (
    "install --lock a.txt --name x",
    "install torch 'numpy<2' --name x --target 'RTX 4090,driver=550'",
    "install --name x --lock a.txt --installer uv --verify later --json --index https://u:p@host/simple",
    "-q install --lock a.txt --path .venv --replace --installer pip-sync --verify now --manager conda",
    "-v --quiet install --lock a.txt --name x --offline --refresh --cache-dir c --source pypi --mirror https://m",
    "install --lock a.txt --lock b.txt --name x --name y",
    "install --lock a.txt --name x --extra-index a --extra-index b --find-links 'a b' --find-links c",
    "install --lock ./a/../b.txt --name install",
    "plan",
    "plan -r a.in -r b.in --explain torch --json",
    "lock torch --upgrade-package a --upgrade-package b --snippet uv -o x.txt --check",
    "detect --json -o machine.json",
    "verify --name x --static --ci report.xml",
    "doctor --report a.txt",
    "doctor --path .venv --fix --in-place --yes",
    "envs list --json",
    "envs path pytorch_new",
    "envs run x -- python -c 'print(1)'",
    "envs run x python --help -- '' -q",
    "-q envs run x --name y",
    "rules show 'RTX 4090' --json",
    "cache info --cache-dir x",
    "cache prune",
    "init --target 'RTX 4090' --dry-run",
    "driver --target 'RTX 4090'",
)
LEFT = (
    "install --lock=a.txt --name x",
    "install --lock a.txt --name",
    "install --lock a.txt --name ''",
    "install --lock a.txt --name --json",
    "install --lock a.txt --name x --help",
    "install --lock a.txt --name x --installer conda",
    "install --lock a.txt --name x --no-such-option",
    "install --lock a.txt -- --name x",
    "install --loc a.txt --name x",
    "--version install --lock a.txt",
    "-vq plan",
    "plan ''",
    "plan -rfile",
    "plan -",
    "envs",
    "envs path",
    "envs path a b",
    "envs run x",
    "envs run -- python",
    "envs run --help",
    "envs remove --help",
    "cache prune --days 3",  # a number with bounds
    "init --no-readme",  # one of a pair
    "no-such-command",
    "--help",
    "",
)


@pytest.fixture(scope="module")
def called() -> Iterator[list[tuple[str, int, dict[str, Any]]]]:
    """What commands were called with: name, how much is told, every parameter."""
    calls: list[tuple[str, int, dict[str, Any]]] = []
    with pytest.MonkeyPatch.context() as patch:
        for module, _ in COMMANDS.values():
            app: CommandApp = import_module(module).app
            patch.setattr(app, "commands", [replace(one, function=_spy(one, calls)) for one in app.commands])
        yield calls


def _spy(command: Command, calls: list[tuple[str, int, dict[str, Any]]]) -> Callable[..., int]:
    @wraps(command.function)
    def call(**words: Any) -> int:
        bound = signature(command.function).bind(**words)
        bound.apply_defaults()
        calls.append((command.name, talk.level(), bound.arguments))
        return 7

    return call


def same_as_typer(argv: list[str], calls: list[tuple[str, int, dict[str, Any]]]) -> bool:
    """Whether the line is read here; then typer must come to the same."""
    calls.clear()
    plain = quick.read(argv)
    if plain is None:
        return False
    assert plain.run() == group.invoke(argv) == 7
    (name, level, ours), (typers_name, typers_level, typers) = calls
    assert (name, level, ours) == (typers_name, typers_level, typers)
    assert {key: type(value) for key, value in ours.items()} == {key: type(value) for key, value in typers.items()}
    return True


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_read_as_typer_reads_it(line: str, called: list[tuple[str, int, dict[str, Any]]]) -> None:
    assert same_as_typer(shlex.split(line), called)


@pytest.mark.parametrize("line", LEFT)
def test_any_other_line_is_left_to_typer(line: str) -> None:
    assert quick.read(shlex.split(line)) is None


def _every() -> list[tuple[list[str], Command]]:
    """All commands with the words that name each."""
    found = []
    for name, (module, _) in COMMANDS.items():
        app: CommandApp = import_module(module).app
        found += [([name, one.name] if app.several else [name], one) for one in app.commands]
    return found


def _flags(command: Command) -> list[str]:
    return [flag for one in command.parameters() for flag in one.said.flags]


VALUES = st.sampled_from(["x", "a b", "3", "now", "uv", "auto", "-", "--", "-x", "", "torch==2.9.1", "é", "a=b", "@f"])


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    before = draw(st.lists(st.sampled_from(["-q", "-v", "--quiet", "--verbose"]), max_size=2))
    named, command = draw(st.sampled_from(_every()))
    word = st.sampled_from([*_flags(command), "--help"]) | VALUES
    return [*before, *named, *draw(st.lists(word, max_size=7))]


@settings(max_examples=400)
@given(argv=lines())
def test_whatever_is_read_here_typer_reads_the_same(
    argv: list[str], called: list[tuple[str, int, dict[str, Any]]]
) -> None:
    same_as_typer(argv, called)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("install --lock none.txt --name x", "2", "can't read the lock"),
        ("plan --target 'RTX 4090,driver=570.86.10,python=3.12,os=linux,arch=x86_64' --json", "0", ""),
        ("envs list", "0", "no environments yet"),
    ],
)
def test_a_plain_line_never_loads_typer(line: str, code: str, said: str, tmp_path: Path) -> None:
    script = (
        "import sys; from envsolve.cli.app import run; code = run(sys.argv[1:]);print(code, 'typer' in sys.modules)"
    )
    command = [sys.executable, "-c", script, *shlex.split(line)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split()[-2:] == [code, "False"]
    assert said in done.stderr
