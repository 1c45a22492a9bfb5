"""Kills, interrupts, full disks and two runs at once: the old environment works on, and nothing half-made appears."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envsolve.environment.hold import try_hold
from fakes.index_server import IndexServer
from fakes.installing import SIX, arguments, builds, install, lock_file, says, spawn
from fakes.stub_locks import served_lock
from fakes.stub_wheels import StubWheel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
_LONG = 60.0


def wait_until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _LONG
    while not done():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def old_environment(store: Path, tmp_path: Path, server: IndexServer) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0


def still_works(store: Path) -> bool:
    return says(store / "envs/fresh", "import torch; print(torch.__version__)") == "2.11.0+cpu"


def test_a_kill_in_the_middle_leaves_the_old_environment(
    store: Path, tmp_path: Path, server: IndexServer, installer: str
) -> None:
    old_environment(store, tmp_path, server)
    (old,) = builds(store)
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.fault("*/six-*.whl", slow=3.0)

    process = spawn(arguments(lock, server, "--replace", "--installer", installer))
    wait_until(lambda: any(_has_handed(store)), "the installer's start")
    time.sleep(0.3)
    process.kill()
    process.communicate()

    (new,) = set(builds(store)) - {old}
    assert still_works(store)
    # The orphaned installer holds its build until it ends; nobody removes it under its feet before that.
    server.clear_faults()
    wait_until(lambda: _free(store / "locks" / f"build-{new}.lock"), "the installer's end")

    assert install(lock, server, "--replace") == 0

    assert len(builds(store)) == 1
    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"


def _free(lock: Path) -> bool:
    held = try_hold(lock)
    if held is None:
        return False
    os.close(held)
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["ctrl-c", "term", "hangup"])
def test_an_interrupt_ends_the_installer_and_leaves_nothing(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, number: signal.Signals
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.fault("*/six-*.whl", slow=20.0)

    process = spawn(arguments(lock, server, "--installer", installer))
    wait_until(lambda: (store / "builds").exists() and any(_has_handed(store)), "the installer's start")
    time.sleep(0.3)
    process.send_signal(number)
    _, error = process.communicate(timeout=_LONG)

    assert process.returncode == 130
    assert "error: interrupted" in error and "Traceback" not in error
    assert builds(store) == []
    assert not (store / "envs/fresh").exists()


def _has_handed(store: Path) -> list[Path]:
    return list((store / "builds").glob("*/.envsolve-handed.txt"))


def test_two_runs_of_one_name_do_not_harm_each_other(store: Path, tmp_path: Path, server: IndexServer) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.fault("*/six-*.whl", slow=2.0, times=1)

    first = spawn(arguments(lock, server))
    wait_until(lambda: any(_has_handed(store)) if store.exists() else False, "the first run's start")
    second = spawn(arguments(lock, server))
    _, said_first = first.communicate(timeout=_LONG)
    _, said_second = second.communicate(timeout=_LONG)

    assert first.returncode == 0, said_first
    assert second.returncode == 2, said_second
    assert "another envsolve is working on 'fresh'" in said_second and "exists already" in said_second
    assert len(builds(store)) == 1 and still_works(store)


def test_two_names_at_once(store: Path, tmp_path: Path, server: IndexServer) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    running = [spawn(arguments(lock, server, name=name)) for name in ("one", "two")]
    assert [process.communicate(timeout=_LONG) and process.returncode for process in running] == [0, 0]
    assert len(builds(store)) == 2


def test_a_program_that_runs_in_the_old_one_keeps_it(store: Path, tmp_path: Path, server: IndexServer) -> None:
    old_environment(store, tmp_path, server)
    (old,) = builds(store)
    program = spawn(["envs", "run", "fresh", "--", "python", "-c", "print('up', flush=True); input()"])
    assert program.stdout and program.stdout.readline() == "up\n"
    lock = lock_file(tmp_path, served_lock(server, SIX))

    assert install(lock, server, "--replace") == 0
    assert len(builds(store)) == 2 and old in builds(store)
    program.communicate("\n", timeout=_LONG)

    assert install(lock, server, "--replace") == 0
    assert len(builds(store)) == 1


def small_disk(tmp_path: Path, lock: Path, server: IndexServer, installer: str) -> subprocess.CompletedProcess[str]:
    """Install on a real file system of 24 MB, in a mount namespace of our own; prints the code and what is left."""
    if not shutil.which("unshare"):
        pytest.skip("no unshare here")
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [sys.executable, "-m", "envsolve", *arguments(lock, server, "--installer", installer)]
    script = (
        'mount -t tmpfs -o size=24m none "$1" || exit 77\n'
        'disk="$1"; shift\n'
        'ENVSOLVE_HOME="$disk" "$@"\n'
        'echo "code $?"; ls "$disk/builds" "$disk/envs" 2>/dev/null | grep fresh\n'
    )
    namespace = ["unshare", "--user", "--map-root-user", "--mount"]
    done = subprocess.run([*namespace, "sh", "-c", script, "sh", str(disk), *command], capture_output=True, text=True)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no namespaces here")
    return done


def test_a_full_disk_leaves_nothing_half_made(tmp_path: Path, server: IndexServer, installer: str) -> None:
    big = StubWheel(name="big", version="1", modules={"big.py": "#" * 60_000_000})  # packs well: only unpacking fails
    done = small_disk(tmp_path, lock_file(tmp_path, served_lock(server, big)), server, installer)
    assert done.stdout == "code 3\n", done.stdout + done.stderr
    assert "the disk is full" in done.stderr and "hint: " in done.stderr


def test_too_small_a_disk_is_told_before_anything_is_fetched(
    tmp_path: Path, server: IndexServer, installer: str
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX, padding=40_000_000))
    done = small_disk(tmp_path, lock, server, installer)
    assert done.stdout == "code 3\n", done.stdout + done.stderr
    assert "not enough disk space" in done.stderr and "are free" in done.stderr
    assert {seen.method for seen in server.requests} == {"HEAD"}
