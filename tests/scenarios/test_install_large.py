"""Large wheels: fetched by envsolve itself, resumed by the next run, and nothing of that is left in the environment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envsolve.cli.busy import pace_line
from envsolve.environment.gather import LARGE
from envsolve.environment.wanted import wheels_folder
from envsolve.settings import load_settings
from fakes.index_server import IndexServer
from fakes.installing import SIX, arguments, builds, install, lock_file, python_of, says, spawn
from fakes.stub_locks import served_lock
from fakes.stub_wheels import StubWheel

Output = pytest.CaptureFixture[str]


def test_pip_freeze_names_the_locks_address(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, isolated: Path
) -> None:
    text = served_lock(server, SIX, padding=LARGE)
    assert install(lock_file(tmp_path, text), server, "--installer", installer) == 0

    made = store / "envs/fresh"
    frozen = subprocess.run(
        [python_of(made), "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    address = next(line for line in text.splitlines() if line.startswith("torch @"))
    assert address in frozen and "six==1.17.0" in frozen
    assert server.count("*/torch-*.whl") == 2  # its size, and itself
    (info,) = made.glob("lib/python*/site-packages/torch-*.dist-info")
    recorded = json.loads((info / "direct_url.json").read_text())
    assert recorded["url"].startswith("http://")
    assert str(isolated) not in (info / "RECORD").read_text()
    # pip finds RECORD in order, and removes what it names
    subprocess.run([python_of(made), "-m", "pip", "uninstall", "-qy", "torch"], check=True)
    assert not info.exists()


def test_a_second_environment_needs_no_download(
    store: Path, tmp_path: Path, server: IndexServer, installer: str
) -> None:
    lock = lock_file(tmp_path, served_lock(server, padding=LARGE))
    assert install(lock, server, "--installer", installer) == 0
    server.requests.clear()
    assert install(lock, server, "--installer", installer, name="second") == 0
    assert server.requests == []


def test_a_kept_wheel_that_rotted_is_fetched_again(
    store: Path, tmp_path: Path, server: IndexServer, installer: str
) -> None:
    """The installer's check of the hashes finds it: envsolve itself doesn't read gigabytes once more each time."""
    lock = lock_file(tmp_path, served_lock(server, padding=LARGE))
    settings = load_settings({})
    assert install(lock, server, "--installer", installer) == 0
    (wheel,) = wheels_folder(settings).glob("*/torch-*.whl")
    content = wheel.read_bytes()
    wheel.write_bytes(content[: LARGE // 2] + b"rot" + content[LARGE // 2 + 3 :])
    server.requests.clear()
    assert install(lock, server, "--installer", installer, name="second") == 0
    assert wheel.read_bytes() == content
    assert [seen.method for seen in server.requests] == ["GET"]


def test_a_cache_that_cant_be_written_stops_nothing(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: Output
) -> None:
    (tmp_path / "file").write_text("")
    lock = lock_file(tmp_path, served_lock(server, SIX, padding=LARGE))
    cache = ["--cache-dir", str(tmp_path / "file" / "cache")]
    assert install(lock, server, "--installer", installer, *cache) == 0
    assert f"can't be written: {installer} fetches everything itself" in capsys.readouterr().err
    assert says(store / "envs/fresh", "import torch, six; print(torch.__version__)") == "2.11.0+cpu"


def test_a_killed_download_goes_on(store: Path, tmp_path: Path, server: IndexServer, installer: str) -> None:
    if sys.platform == "win32":
        pytest.skip("POSIX signals")
    lock = lock_file(tmp_path, served_lock(server, padding=LARGE))
    fault = server.fault("*/torch-*.whl", truncated=True, times=2)  # the question for the size, then half of it
    server.fault("*/torch-*.whl", slow=20.0)

    process = spawn(arguments(lock, server, "--installer", installer))
    deadline = time.monotonic() + 60
    while fault.times or server.count("*/torch-*.whl") < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.clear_faults()
    server.requests.clear()

    assert install(lock, server, "--installer", installer) == 0
    got = [seen for seen in server.requests if seen.method == "GET" and "torch-" in seen.path]
    assert [seen.status for seen in got] == [206]
    assert len(builds(store)) == 1


@pytest.mark.parametrize("fault", [{"wrong": True}, {"html": True}], ids=["other bytes", "an error page"])
def test_other_bytes_are_refused(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: Output, fault: dict[str, object]
) -> None:
    lock = lock_file(tmp_path, served_lock(server, padding=LARGE))
    fault_at = {**fault, "times": None}
    server.fault("*/torch-*.whl", **fault_at)
    # what an error page says of its size is small: the installer itself is asked then, and refuses as well
    assert install(lock, server, "--installer", installer) in (1, 3)
    said = capsys.readouterr().err
    assert "error: " in said and "hint: " in said
    assert builds(store) == []


def test_pip_sync_fills_it_too(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    from envsolve.environment.fill import choose_installer
    from envsolve.errors import InputError

    try:
        choose_installer("pip-sync")
    except InputError:
        pytest.skip("pip-tools is not installed")
    wheel = StubWheel(name="other", version="2")
    lock = lock_file(tmp_path, served_lock(server, SIX, wheel, padding=LARGE))
    assert install(lock, server, "--installer", "pip-sync") == 0
    assert "with pip-sync" in capsys.readouterr().err
    made = store / "envs/fresh"
    code = "import torch, six, other; print(torch.__version__)"
    done = subprocess.run([python_of(made), "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2.11.0+cpu\n"
    server.fault("*/six-*.whl", wrong=True)
    assert install(lock, server, "--installer", "pip-sync", name="second") in (0, 1)  # 0: from pip's own cache


def test_a_line_of_progress() -> None:
    assert pace_line(1_200_000_000, 3_000_000_000, speed=85e6) == "1.2 of 3.0 GB, 85 MB/s, 0:21 left"
    assert pace_line(0, 3_000_000_000, speed=0) == "0.0 of 3.0 GB"
