"""--manager conda by py-rattler, stopped in the middle: nothing half-made, the old environment works on, the next run
too. The channel's second package is a pipe that nobody writes to, so that py-rattler waits in the middle of its work.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.hold import try_hold
from envsolve.lock.conda import SUBDIRS
from envsolve.machine.host import this_host
from fakes.index_server import IndexServer
from fakes.installing import SIX, arguments, builds, install, lock_file, says, spawn
from fakes.stub_locks import served_lock
from scenarios.test_install_conda import channel as channel
from scenarios.test_install_conda import needs_linux, needs_rattler

pytestmark = [needs_linux, needs_rattler]
_LONG = 60.0


class Channel:
    """The channel with a package that can be made to block."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address = address
        self.pip = folder / "pip-1-0.tar.bz2"
        self._kept = self.pip.read_bytes()
        self._end: int | None = None
        listed = folder / "repodata.json"
        data = json.loads(listed.read_text())
        for one in data["packages"].values():
            one["depends"] = []  # this machine may have no GPU
        listed.write_text(json.dumps(data))

    def block(self) -> None:
        self.pip.unlink()
        os.mkfifo(self.pip)

    def is_waited_for(self) -> bool:
        """Whether somebody reads the pipe; from then on they wait for what we never write."""
        if self._end is None:
            with contextlib.suppress(OSError):  # no reader yet
                self._end = os.open(self.pip, os.O_WRONLY | os.O_NONBLOCK)
        return self._end is not None

    def free(self) -> None:
        """Whoever waits reads nothing; the package is whole for those who come after."""
        if self._end is not None:
            os.close(self._end)
        self.pip.unlink()
        self.pip.write_bytes(self._kept)


@pytest.fixture
def blocked(channel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Channel:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]))  # no conda
    return Channel(channel, tmp_path / "channel" / SUBDIRS[this_host().platform])


def wait_until(done: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _LONG
    while not done():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def children(process: subprocess.Popen[str]) -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def rattlers(process: subprocess.Popen[str]) -> list[int]:
    """The children that are py-rattler at work in a build that has begun."""
    return [pid for pid in children(process) if b"conda_child" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def interrupted(server: IndexServer, lock: Path, channel: Channel, *more: str) -> tuple[subprocess.Popen[str], int]:
    """An install that waits within py-rattler, and that child's process id."""
    channel.block()
    argv = arguments(lock, server, "--manager", "conda", "--conda-channel", channel.address, *more)
    process = spawn(argv)
    wait_until(lambda: rattlers(process) or process.poll() is not None, "py-rattler's start")
    (child,) = rattlers(process)
    wait_until(lambda: channel.is_waited_for() or process.poll() is not None, "the wait for the package")
    assert process.poll() is None
    return process, child


def again(server: IndexServer, lock: Path, channel: Channel, *more: str) -> int:
    return run(arguments(lock, server, "--manager", "conda", "--conda-channel", channel.address, *more))


def is_whole(store: Path) -> bool:
    return says(store / "envs/fresh", "import six, torch, from_conda; print(six.__version__)") == "1.17.0"


def is_free(lock: Path) -> bool:
    held = try_hold(lock)
    if held is not None:
        os.close(held)
    return held is not None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "term"])
def test_an_interrupt_leaves_nothing_and_the_next_run_works(
    store: Path, tmp_path: Path, server: IndexServer, blocked: Channel, number: signal.Signals
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    process, child = interrupted(server, lock, blocked)
    process.send_signal(number)
    _, error = process.communicate(timeout=_LONG)
    assert process.returncode == 130 and "error: interrupted" in error
    assert not Path(f"/proc/{child}").exists()
    assert builds(store) == [] and not (store / "envs/fresh").exists()

    blocked.free()
    assert again(server, lock, blocked) == 0
    assert is_whole(store)


def test_a_killed_child_is_told_and_leaves_nothing(
    store: Path, tmp_path: Path, server: IndexServer, blocked: Channel
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    process, child = interrupted(server, lock, blocked)
    os.kill(child, signal.SIGKILL)
    _, error = process.communicate(timeout=_LONG)
    assert process.returncode == 3
    assert "py-rattler can't make a Python" in error and "signal 9" in error and "hint: " in error
    assert builds(store) == []

    blocked.free()
    assert again(server, lock, blocked) == 0
    assert is_whole(store)


def test_a_kill_leaves_the_old_environment_and_the_next_run_clears_up(
    store: Path, tmp_path: Path, server: IndexServer, blocked: Channel
) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    (old,) = builds(store)
    lock = lock_file(tmp_path, served_lock(server, SIX))
    process, child = interrupted(server, lock, blocked, "--replace")
    process.kill()
    process.communicate()

    (new,) = set(builds(store)) - {old}
    assert says(store / "envs/fresh", "import torch; print(torch.__version__)") == "2.11.0+cpu"
    # py-rattler has outlived envsolve, and keeps its hold on what it writes to.
    held = store / "locks" / f"build-{new}.lock"
    assert Path(f"/proc/{child}").exists() and not is_free(held)

    blocked.free()
    wait_until(lambda: is_free(held), "py-rattler's end")
    assert again(server, lock, blocked, "--replace") == 0
    assert is_whole(store)
    assert len(builds(store)) == 1 and not {old, new} & set(builds(store))
