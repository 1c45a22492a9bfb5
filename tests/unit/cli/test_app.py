"""The entry point: help, unknown commands, errors and exit codes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from envsolve import __version__
from envsolve.cli import app as entry
from envsolve.cli.commands import COMMANDS

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: Output) -> None:
    assert entry.run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Example: envsolve " in text
    assert "--install-completion" not in text  # that is envsolve's own option


def test_help_names_every_command(capsys: Output) -> None:
    assert entry.run([]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)


def test_version(capsys: Output) -> None:
    assert entry.run(["--version"]) == 0
    assert capsys.readouterr().out == f"envsolve {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "error", "hint"),
    [
        (["plann"], "error: there is no command 'plann'", "hint: envsolve plan"),
        (["plan", "--zzz"], "error: no such option: --zzz", "hint: envsolve plan --help"),
        (["envs", "list", "-v"], "error: no such option: -v", "hint: envsolve -v envs list …"),
        (["detect", "extra"], "error: got unexpected extra argument(s) (extra)", "hint: envsolve detect --help"),
    ],
)
def test_wrong_usage_is_exit_2(argv: list[str], error: str, hint: str, capsys: Output) -> None:
    assert entry.run(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [error, hint]


def test_ctrl_c_is_exit_130_and_said_once(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def interrupt(**options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("envsolve.machine.detect.detect", interrupt)
    assert entry.run(["detect"]) == 130
    assert capsys.readouterr().err.strip() == "error: interrupted"


def test_a_bug_is_no_traceback_unless_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def broken(**options: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("envsolve.machine.detect.detect", broken)
    assert entry.run(["detect"]) == 3
    assert capsys.readouterr().err.startswith("error: this is a bug in envsolve: ZeroDivisionError: division by zero\n")
    with pytest.raises(ZeroDivisionError):
        entry.run(["-v", "detect"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_cant_be_printed_is_an_outside_failure(unbuffered: str) -> None:
    command = [sys.executable, "-m", "envsolve", "plan", "torch", "--json", "--target", "H200,driver=580.65.06"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
        )
    assert done.returncode == 3
    assert done.stderr == "error: can't write what was to be printed: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_output_that_is_closed_or_not_read_is_no_error() -> None:
    for end in (">&-", "| true"):
        line = f"set -o pipefail; {shlex.quote(sys.executable)} -m envsolve rules show --json {end}"
        done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (0, "")
