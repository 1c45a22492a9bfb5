"""Installing from a lock, with the real installers and a fake index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.stub_locks import served_lock
from fakes.stub_wheels import StubWheel

SIX = StubWheel(name="six", version="1.17.0")


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENVSOLVE_HOME", str(tmp_path / "envsolve home"))
    return tmp_path / "envsolve home"


@pytest.fixture(params=["uv", "pip"])
def installer(request: pytest.FixtureRequest) -> str:
    from envsolve.environment.pythons import find_uv

    if request.param == "uv" and find_uv() is None:
        pytest.skip("uv is not installed")
    return str(request.param)


def lock_file(folder: Path, text: str) -> Path:
    path = folder / "requirements.lock.txt"
    path.write_text(text, encoding="utf-8")
    return path


def install(lock: Path, server: IndexServer, *more: str, name: str = "fresh") -> int:
    where = ["--name", name] if "--path" not in more else []
    return run(["install", *where, "--lock", str(lock), "--index", server.simple, "--verify", "later", *more])


def leftovers(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "builds").glob("*")) if home.exists() else []


def imports(interpreter: Path, modules: str = "torch, six, pip") -> str:
    done = subprocess.run(
        [interpreter, "-c", f"import {modules}; print(torch.__version__)"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_an_environment_appears_under_its_name(
    home: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))

    assert install(lock, server, "--installer", installer) == 0

    shown = capsys.readouterr()
    assert imports(home / "envs/fresh/bin/python") == "2.11.0+cpu"
    assert f"source '{home}/envs/fresh/bin/activate'" in shown.out
    assert f"with {installer}" in shown.err
    marker = json.loads((home / "envs/fresh/envsolve.json").read_text())
    assert marker["stage"] == "unverified"
    assert (home / "envs/fresh/envsolve-lock.txt").read_text() == lock.read_text()


def test_other_bytes_than_the_locks_are_refused_and_leave_nothing(
    home: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = served_lock(server, SIX)
    other = StubWheel(name="six", version="1.17.0", modules={"six.py": "EVIL = True\n"})
    lock = lock_file(tmp_path, text.replace(SIX.sha256, other.sha256))

    assert install(lock, server, "--installer", installer) == 1

    assert leftovers(home) == []
    assert run(["envs", "path", "fresh"]) == 2
    assert "not the file that the lock pins" in capsys.readouterr().err
