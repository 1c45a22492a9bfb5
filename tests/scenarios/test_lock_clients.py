"""Locks that envsolve writes, given to the real clients: pip, uv, pip-sync. The wheels are stubs from a fake index."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel, stub_family

HERE = f"cp3{sys.version_info.minor}"
LINUX = "manylinux_2_28_x86_64"
TARGET = f"RTX 5070 Ti,driver=570.86.10,python=3.{sys.version_info.minor},glibc=2.35,os=linux,arch=x86_64"
MARKUPSAFE = StubWheel(name="markupsafe", version="3.0.3")
PINS = {
    "markupsafe": "3.0.3",
    "torch": "2.11.0+cu128",
    "torchaudio": "2.11.0+cu128",
    "torchvision": "0.26.0+cu128",
    "triton": "3.6.0",
}

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="the stub wheels are for Linux x86_64"
)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    """The trio on cu128 with a dependency of each kind: from the default index, and from the root of the other."""
    monkeypatch.chdir(tmp_path)
    with IndexServer() as server:
        family = stub_family(
            "cu128",
            tag=f"{HERE}-{HERE}-{LINUX}",
            torch="2.11.0",
            torchvision="0.26.0",
            torchaudio="2.11.0",
            requires=("markupsafe", "triton==3.6.0; platform_system == 'Linux'"),
        )
        for wheel in family:
            server.add_wheel("cu128", wheel)
        for end in (f"{HERE}-{LINUX}", f"{HERE}-manylinux_2_17_x86_64", f"{HERE}-win_amd64"):
            server.add_package(replace(MARKUPSAFE, tag=f"{HERE}-{end}"))
        server.add_root(StubWheel(name="triton", version="3.6.0", tag=f"{HERE}-{HERE}-{LINUX}"))
        yield server


def lock(index: IndexServer, *outputs: str, target: str = TARGET) -> int:
    more = [word for output in outputs for word in ("-o", output)]
    return run(["lock", "--target", target, "--mirror", index.whl, "--index", index.simple, *more])


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """The Python of a new environment that holds nothing but pip."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True)
    return tmp_path / "fresh/bin/python"


def call(*words: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_CACHE_DIR": str(Path.home() / "uv")}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env, check=False)


def installed(python: Path) -> dict[str, str]:
    code = "import importlib.metadata as m; [print(d.name, d.version) for d in m.distributions()]"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    pairs = dict(line.split() for line in done.stdout.splitlines())
    return {name: version for name, version in sorted(pairs.items()) if name not in ("pip", "setuptools")}


def pip(python: Path, index: IndexServer, lock_file: str) -> subprocess.CompletedProcess[str]:
    hashed = [] if lock_file.startswith("pylock") else ["--require-hashes"]
    return call(python, "-m", "pip", "install", "--index-url", index.simple, *hashed, "-r", lock_file)


def new_pip(python: Path, index: IndexServer, lock_file: str) -> subprocess.CompletedProcess[str]:
    """The pip beside envsolve, which is new enough for pylock.toml."""
    return call(
        sys.executable, "-m", "pip", "--python", python, "install", "--index-url", index.simple, "-r", lock_file
    )


def uv_sync(python: Path, index: IndexServer, lock_file: str) -> subprocess.CompletedProcess[str]:
    uv = Path(sys.executable).with_name("uv")
    more = [] if lock_file.startswith("pylock") else ["--require-hashes"]
    return call(uv, "pip", "sync", "--python", python, "--default-index", index.simple, *more, lock_file)


def pip_sync(python: Path, index: IndexServer, lock_file: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("pip-sync")
    return call(tool, "--python-executable", python, "--index-url", index.simple, lock_file)


Client = Callable[[Path, IndexServer, str], subprocess.CompletedProcess[str]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "lock_file"),
    [
        (pip, "requirements.lock.txt"),
        (uv_sync, "requirements.lock.txt"),
        (pip_sync, "requirements.lock.txt"),
        (new_pip, "pylock.toml"),
        (uv_sync, "pylock.toml"),
    ],
)
def test_a_client_installs_exactly_the_lock(index: IndexServer, fresh: Path, client: Client, lock_file: str) -> None:
    assert lock(index, lock_file) == 0
    done = client(fresh, index, lock_file)
    assert done.returncode == 0, done.stderr
    assert installed(fresh) == PINS


@pytest.mark.slow
def test_pip_sync_then_finds_it_up_to_date(index: IndexServer, fresh: Path) -> None:
    assert lock(index) == 0
    assert pip_sync(fresh, index, "requirements.lock.txt").returncode == 0
    before = index.count("*.whl")
    again = pip_sync(fresh, index, "requirements.lock.txt")
    assert again.returncode == 0
    assert "Everything up-to-date" in again.stdout + again.stderr
    assert index.count("*.whl") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "lock_file"),
    [
        (pip, "requirements.lock.txt"),
        (uv_sync, "requirements.lock.txt"),
        (new_pip, "pylock.toml"),
        (uv_sync, "pylock.toml"),
    ],
)
@pytest.mark.parametrize("name", ["torch", "markupsafe"])
def test_another_wheel_under_the_same_name_is_refused(
    index: IndexServer, fresh: Path, client: Client, lock_file: str, name: str
) -> None:
    assert lock(index, lock_file) == 0
    if name == "torch":
        index.add_wheel("cu128", StubWheel(name="torch", version="2.11.0+cu128", tag=f"{HERE}-{HERE}-{LINUX}"))
    else:
        for end in (LINUX, "manylinux_2_17_x86_64"):
            index.add_package(replace(MARKUPSAFE, tag=f"{HERE}-{HERE}-{end}", modules={"markupsafe.py": "evil = 1"}))
    done = client(fresh, index, lock_file)
    assert done.returncode != 0
    said = (done.stdout + done.stderr).lower()
    assert "hash" in said or "size mismatch" in said
    assert installed(fresh) == {}


@pytest.mark.slow
def test_pip_takes_the_pip_section_of_environment_yml(index: IndexServer, fresh: Path, tmp_path: Path) -> None:
    import yaml

    assert lock(index, "environment.yml") == 0
    document = yaml.safe_load(Path("environment.yml").read_text())
    # conda hands the section to pip in just this way
    Path("section.txt").write_text("\n".join(document["dependencies"][2]["pip"]) + "\n")
    done = call(fresh, "-m", "pip", "install", "--index-url", index.simple, "-r", "section.txt")
    assert done.returncode == 0, done.stderr
    assert installed(fresh) == PINS


def test_the_same_inputs_give_the_same_bytes(index: IndexServer, tmp_path: Path) -> None:
    names = ["requirements.lock.txt", "pylock.toml", "environment.yml"]
    assert lock(index, *names) == 0
    first = [Path(name).read_bytes() for name in names]
    (tmp_path / "elsewhere").mkdir()
    os.chdir(tmp_path / "elsewhere")
    assert lock(index, *names) == 0
    assert [Path(name).read_bytes() for name in names] == first
