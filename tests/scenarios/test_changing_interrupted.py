"""upgrade and doctor --fix, killed or cut off in the middle.

What was there works on, nothing half-made appears, and the next run does what the first one was asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.hold import try_hold
from fakes.index_server import IndexServer
from fakes.installing import builds, says, spawn
from scenarios import test_doctor_fix as fixing
from scenarios import test_upgrade as upgrading
from scenarios.test_doctor_fix import digest, ill, serve

Output = pytest.CaptureFixture[str]
pytestmark = [
    upgrading.planned,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
    pytest.mark.usefixtures("_as_with_an_rtx_4090"),
]
_LONG = 60.0
_AGAIN = ["upgrade", "--name", "fresh", "--verify", "later"]
# envsolve in a process of its own, on a machine as `fixing.machine` says.
_WITH_A_GPU = """
import sys
import envsolve.machine.detect, envsolve.machine.probe_kernel
from scenarios.test_doctor_fix import machine
envsolve.machine.detect.detect = machine()
envsolve.machine.probe_kernel.is_container = lambda _: False
from envsolve.cli.app import main
main()
"""


@pytest.fixture
def _as_with_an_rtx_4090(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envsolve.machine.detect.detect", fixing.machine())
    monkeypatch.setattr("envsolve.machine.probe_kernel.is_container", lambda _: False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "1")  # each waits twice as long as the one before


def wait_until(done: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _LONG
    while not done():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def is_filling(store: Path) -> bool:
    return bool(list((store / "builds").glob("*/.envsolve-handed.txt")))


def is_free(lock: Path) -> bool:
    held = try_hold(lock)
    if held is not None:
        os.close(held)
    return held is not None


def all_ended(store: Path) -> bool:
    """Whether no installer that outlived its envsolve is at work."""
    return all(is_free(lock) for lock in (store / "locks").glob("build-*.lock"))


def upgradable(server: IndexServer) -> None:
    upgrading.made(server)
    server.add_package(upgrading.NEWER)


def six(store: Path, name: str = "fresh") -> str:
    return says(store / "envs" / name, "import six, torch; print(six.__version__)")


def test_an_upgrade_that_is_killed(store: Path, server: IndexServer) -> None:
    upgradable(server)
    (old,) = builds(store)
    server.fault("*/six-1.18.0-*.whl", slow=3.0)
    process = spawn([*_AGAIN, *upgrading.sources(server)])
    wait_until(lambda: is_filling(store) or process.poll() is not None, "the installer's start")
    assert process.poll() is None
    process.kill()
    process.communicate()
    assert six(store) == "1.17.0" and old in builds(store)

    server.clear_faults()
    wait_until(lambda: all_ended(store), "the installer's end")
    assert upgrading.upgrade(server) == 0
    assert six(store) == "1.18.0"
    assert len(builds(store)) == 1


@pytest.mark.parametrize("fault", [{"truncated": True}, {"status": 503}], ids=["cut off", "a failing server"])
def test_an_upgrade_whose_connection_drops(
    store: Path, server: IndexServer, capsys: Output, fault: dict[str, object]
) -> None:
    upgradable(server)
    (old,) = builds(store)
    server.fault("*/six-1.18.0-*.whl", **fault)  # type: ignore[arg-type]
    assert upgrading.upgrade(server) == 3
    shown = capsys.readouterr()
    assert "error: " in shown.err and "hint: " in shown.err
    assert six(store) == "1.17.0" and builds(store) == [old]

    server.clear_faults()
    assert upgrading.upgrade(server) == 0
    assert six(store) == "1.18.0" and len(builds(store)) == 1


def test_a_repair_that_is_killed(tmp_path: Path, store: Path, server: IndexServer) -> None:
    serve(server)
    env = ill(tmp_path)
    before = digest(env.path)
    server.fault("*/six-*.whl", slow=3.0)
    sources = ["--mirror", server.whl, "--index", server.simple]
    argv = ["doctor", "--path", str(env.path), "--fix", *sources]
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-c", _WITH_A_GPU, *argv], env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_until(lambda: is_filling(store) or process.poll() is not None, "the installer's start")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert digest(env.path) == before
    assert not (store / "envs/project-fixed").exists()

    server.clear_faults()
    wait_until(lambda: all_ended(store), "the installer's end")
    assert fixing.fix(env, server) == 0
    assert six(store, "project-fixed") == "1.17.0"
    assert digest(env.path) == before
    assert len(builds(store)) == 1


def test_a_repair_whose_connection_drops(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    before = digest(env.path)
    server.fault("*/six-*.whl", truncated=True)
    assert fixing.fix(env, server) == 3
    shown = capsys.readouterr()
    assert "error: " in shown.err and "hint: " in shown.err
    assert digest(env.path) == before
    assert builds(store) == [] and not (store / "envs/project-fixed").exists()

    server.clear_faults()
    assert fixing.fix(env, server) == 0
    assert six(store, "project-fixed") == "1.17.0" and digest(env.path) == before


@pytest.mark.parametrize("kilobytes", [1, 3])
def test_a_limit_on_the_size_of_files(
    store: Path, server: IndexServer, kilobytes: int, installer: str, capsys: Output
) -> None:
    upgradable(server)
    (old,) = builds(store)
    argv = [sys.executable, "-m", "envsolve", *_AGAIN, "--installer", installer, *upgrading.sources(server)]
    limited = f'ulimit -f {kilobytes} && exec "$@"'  # in bash, in kilobytes
    done = subprocess.run(["bash", "-c", limited, "bash", *argv], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr and "bug" not in done.stderr
    assert "ulimit -f" in done.stderr or "File too large" in done.stderr
    assert six(store) == "1.17.0" and builds(store) == [old]
    assert run([*_AGAIN, *upgrading.sources(server)]) == 0
    assert six(store) == "1.18.0"
