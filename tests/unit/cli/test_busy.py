"""What is shown while something long goes on: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from envsolve.cli import busy, talk
from envsolve.cli.busy import Busy

_DOWNLOAD = """
import threading
from envsolve.cli.busy import Busy
with Busy() as shown:
    shown.say("fetching")
    threads = [threading.Thread(target=shown.progress, args=(n * 100_000_000, 1_000_000_000)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shown.progress(1_000_000_000, 1_000_000_000)
    shown.line("a word of the installer")
    shown.say("installing")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_bar_on_a_terminal() -> None:
    import pty

    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", _DOWNLOAD], stderr=theirs, env=env) as process:
        os.close(theirs)
        said = b""
        while piece := _read(ours):
            said += piece
    os.close(ours)
    assert process.returncode == 0
    assert b"1.0/1.0 GB" in said and b"fetching\r\n" in said and b"installing\r\n" in said


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_lines_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [time.monotonic()]
    monkeypatch.setattr(busy.time, "monotonic", lambda: now[0])
    talk.set_level(quiet=False, verbose=False)
    with Busy() as shown:
        for done in range(0, 3_100_000_000, 100_000_000):
            shown.progress(done, 3_000_000_000)
            now[0] += 1.0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "0.5 of 3.0 GB, 100 MB/s, 0:25 left"
    assert len(said) == 6


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(busy, "_SECONDS_BETWEEN_LINES", 0.0)
    talk.set_level(quiet=True, verbose=False)
    try:
        with Busy() as shown:
            shown.progress(1, 10)
            shown.progress(2, 10)
    finally:
        talk.set_level(quiet=False, verbose=False)
    assert capsys.readouterr().err == ""
