"""Source archives: never taken unasked; with --sdists where a version has no wheel; locking runs none of their code."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LockWorld, lock_world, names, targets_here
from fakes.stub_wheels import StubSdist, StubWheel

DEFAULT = "requirements.lock.txt"
Output = pytest.CaptureFixture[str]


class FilesSdist(StubSdist):
    """A source archive of these files, with the PKG-INFO that every stub has."""

    def files(self) -> dict[str, bytes]:
        return {}

    @property
    def content(self) -> bytes:  # type: ignore[override]
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w:gz") as archive:
            for name, data in {"PKG-INFO": self.metadata, **self.files()}.items():
                info = tarfile.TarInfo(f"{self.name}-{self.version}/{name}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return raw.getvalue()

    @cached_property
    def sha256(self) -> str:  # type: ignore[override]
        return hashlib.sha256(self.content).hexdigest()


class HostileSdist(FilesSdist):
    """Its setup.py leaves a mark where it is run; its requirements are told by setuptools' own file."""

    def files(self) -> dict[str, bytes]:
        setup = f"import pathlib; pathlib.Path({str(Path.cwd() / 'mark')!r}).touch()\n"
        return {"setup.py": setup.encode(), f"{self.name}.egg-info/requires.txt": b"six\n"}


class OwnBackend(FilesSdist):
    """It brings its own way to be built, so that nothing else is needed for that."""

    def files(self) -> dict[str, bytes]:
        wheel = StubWheel(name=self.name, version=self.version)
        system = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        backend = (
            "import shutil\n"
            f"NAME = {wheel.filename!r}\n"
            "def build_wheel(folder, config_settings=None, metadata_directory=None):\n"
            "    shutil.copy(NAME, folder)\n"
            "    return NAME\n"
        )
        return {"pyproject.toml": system.encode(), "backend.py": backend.encode(), wheel.filename: wheel.content}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.16", "1.17")
        yield ready


def test_unasked_they_are_not_taken(world: LockWorld, capsys: Output) -> None:
    world.server.add_package(StubSdist(name="built", version="1.0"))
    assert world.lock("torch", "built") == 1
    shown = capsys.readouterr().err
    assert "built has no wheel for this target (1 source archive)" in shown


def test_asked_for_they_are_locked_by_hash_and_said_to_be_built(world: LockWorld, capsys: Output) -> None:
    sdist = StubSdist(name="built", version="1.0")
    world.server.add_package(sdist)
    assert world.lock("torch", "built", "--sdists", "-o", DEFAULT, "-o", "pylock.toml") == 0
    assert names(DEFAULT)[0] == "built==1.0"
    assert f"    --hash=sha256:{sdist.sha256}\n" in Path(DEFAULT).read_text()
    locked = tomllib.loads(Path("pylock.toml").read_text())["packages"][0]
    assert (locked["sdist"]["name"], locked["sdist"]["hashes"]) == ("built-1.0.tar.gz", {"sha256": sdist.sha256})
    assert "note: built where they are installed, which runs their code: built 1.0" in capsys.readouterr().err
    assert "envsolve lock torch built --target" in Path(DEFAULT).read_text()
    assert " --sdists" in Path(DEFAULT).read_text()


def test_a_version_with_a_wheel_comes_before_a_newer_source_archive(world: LockWorld) -> None:
    world.server.add_package(StubSdist(name="six", version="2.0"))
    assert world.lock("torch", "six", "--sdists") == 0
    assert names(DEFAULT)[0] == "six==1.17"
    assert world.lock("torch", "six>=2", "--sdists") == 0
    assert names(DEFAULT)[0] == "six==2.0"


def test_what_it_needs_is_read_and_none_of_its_code_is_run(world: LockWorld) -> None:
    world.server.add_package(HostileSdist(name="hostile", version="1.0"))
    assert world.lock("torch", "hostile", "--sdists") == 0
    assert names(DEFAULT)[:2] == ["hostile==1.0", "six==1.17"]
    assert not Path("mark").exists()


@pytest.mark.slow
@pytest.mark.parametrize("lock_file", [DEFAULT, "pylock.toml"])
@pytest.mark.parametrize("client", ["pip", "uv"])
def test_a_client_builds_what_was_locked(world: LockWorld, tmp_path: Path, client: str, lock_file: str) -> None:
    here, _ = targets_here(world)
    world.server.add_package(OwnBackend(name="built", version="1.0"))
    assert world.lock("torch", "built", "--sdists", "-o", lock_file, targets=(here,)) == 0
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh"], check=True)
    python = tmp_path / "fresh/bin/python"
    hashed = ["--require-hashes"] if lock_file == DEFAULT else []
    commands = {
        "pip": [sys.executable, "-m", "pip", "--python", python, "install", "--index-url", world.server.simple],
        "uv": [Path(sys.executable).with_name("uv"), "pip", "install", "--python", python, "--default-index",
               world.server.simple],
    }  # fmt: skip
    done = subprocess.run([*commands[client], *hashed, "-r", lock_file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = "import importlib.metadata as m; print(m.version('built'), m.version('torch'))"
    shown = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "1.0 2.11.0+cu128\n"


@pytest.mark.slow
def test_install_builds_only_where_it_was_asked_for(world: LockWorld, capsys: Output) -> None:
    here, _ = targets_here(world)
    world.server.add_package(OwnBackend(name="built", version="1.0"))
    words = ["install", "torch", "built", "--path", "env", "--verify", "later", "--target", here]
    places = ["--mirror", world.server.whl, "--index", world.server.simple]
    assert run([*words, *places]) == 1
    assert "built has no wheel for this target" in capsys.readouterr().err
    assert run([*words, *places, "--sdists"]) == 0
    assert list(Path("env").glob("lib/python*/site-packages/built-1.0.dist-info"))
