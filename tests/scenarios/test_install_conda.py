"""--manager conda: the Python from a channel (a folder made here), the rest from the lock by its hashes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.conda import Conda, create_with_conda, environment_yml
from envsolve.environment.marker import read_marker
from envsolve.errors import OutsideError
from envsolve.lock.conda import SUBDIRS, Virtual
from envsolve.machine.host import this_host
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.installing import SIX, arguments, builds, lock_file, says
from fakes.stub_locks import RUNNING, served_lock
from fakes.stub_wheels import StubWheel, stub_torch

Output = pytest.CaptureFixture[str]
needs_linux = pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="the target is Linux x86-64")
needs_rattler = pytest.mark.skipif(find_spec("rattler") is None, reason="py-rattler is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the channel's python is a link")
VERSION = ".".join(map(str, sys.version_info[:3]))


def package(
    folder: Path, name: str, version: str, files: dict[str, str], links: dict[str, str], **more: object
) -> None:
    """A conda package of the old form, and its entry in repodata.json."""
    build = folder / f"{name}-{version}-0.tar.bz2"
    staged = folder / f".{name}"
    (staged / "info").mkdir(parents=True)
    index = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": [], **more}
    paths = []
    for path, text in files.items():
        (staged / path).parent.mkdir(parents=True, exist_ok=True)
        (staged / path).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        paths.append({"_path": path, "path_type": "hardlink", "sha256": digest, "size_in_bytes": len(text)})
    for path, target in links.items():
        (staged / path).parent.mkdir(parents=True, exist_ok=True)
        (staged / path).symlink_to(target)
        paths.append({"_path": path, "path_type": "softlink"})
    (staged / "info/index.json").write_text(json.dumps({"subdir": folder.name, **index}))
    (staged / "info/paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
    with tarfile.open(build, "w:bz2") as archive:
        for path in sorted(staged.rglob("*")):
            if not path.is_dir() or path.is_symlink():
                archive.add(path, path.relative_to(staged).as_posix())
    listed = folder / "repodata.json"
    data = json.loads(listed.read_text()) if listed.exists() else {"info": {"subdir": folder.name}, "packages": {}}
    content = build.read_bytes()
    hashes = {"sha256": hashlib.sha256(content).hexdigest(), "md5": hashlib.md5(content).hexdigest()}
    data["packages"][build.name] = {**index, **hashes, "size": len(content), "subdir": folder.name}
    listed.write_text(json.dumps(data))


@pytest.fixture
def channel(tmp_path: Path) -> str:
    """A channel whose python starts the one that runs the tests, with a folder of its own for packages.

    pip is the one of the running Python, since a link to an interpreter finds no standard library of its own.
    """
    import ensurepip

    folder = tmp_path / "channel" / SUBDIRS[this_host().platform]
    folder.mkdir(parents=True)
    (tmp_path / "channel/noarch").mkdir()
    (tmp_path / "channel/noarch/repodata.json").write_text('{"info": {"subdir": "noarch"}, "packages": {}}')
    real = os.path.realpath(Path(sys.base_prefix) / f"bin/python{RUNNING}")
    home = f"home = {Path(real).parent}\ninclude-system-site-packages = false\nversion = {VERSION}\n"
    site = f"lib/python{RUNNING}/site-packages"
    package(
        folder, "python", VERSION,
        files={"pyvenv.cfg": home, f"{site}/from_conda.py": "here = True\n"},
        links={"bin/python": real},
        depends=["__glibc >=2.17", "__cuda >=12"] if sys.platform == "linux" else [],
    )  # fmt: skip
    bundled = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    shim = f"import sys\nsys.path.insert(0, {str(bundled)!r})\n"
    package(folder, "pip", "1", files={f"{site}/pip_from_conda.py": shim}, links={})
    return (tmp_path / "channel").as_uri()


def conda(channel: str, cuda: str = "12.8") -> Conda:
    virtual = (Virtual(name="__glibc", version="2.31"), *((Virtual(name="__cuda", version=cuda),) if cuda else ()))
    return Conda(tool=None, channels=(channel,), python=RUNNING, platform=this_host().platform, virtual=virtual)


@needs_rattler
def test_the_python_of_the_channel(tmp_path: Path, channel: str) -> None:
    heard: list[str] = []
    path = tmp_path / "made"
    create_with_conda(conda(channel), path, Settings(cache_dir=tmp_path / "cache"), on_line=heard.append)
    assert f"python {VERSION} 0" in heard
    assert says(path, "import from_conda, sys; print(sys.prefix)") == str(path)
    assert len(list((path / "conda-meta").glob("*.json"))) == 2


@needs_rattler
def test_the_machines_cuda_is_given_to_the_solve(tmp_path: Path, channel: str) -> None:
    for cuda in ("", "11.8"):
        with pytest.raises(OutsideError, match="py-rattler can't make a Python"):
            create_with_conda(
                conda(channel, cuda), tmp_path / f"made{cuda}", Settings(cache_dir=tmp_path / "c"), on_line=print
            )


@needs_rattler
@needs_linux
def test_installing_with_conda_and_uv(
    store: Path, tmp_path: Path, channel: str, server: IndexServer, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("envsolve.environment.conda._on_path", lambda: None)
    monkeypatch.setattr(
        "envsolve.lock.virtual.virtual_packages", lambda *args, **more: conda(channel).virtual
    )  # as on a machine with a driver
    lock = lock_file(tmp_path, served_lock(server, SIX))
    argv = arguments(lock, server, "--manager", "conda", "--conda-channel", channel, "--installer", "uv")
    assert run(argv) == 0
    made = store / "envs/fresh"
    assert says(made, "import six, torch, from_conda; print(torch.__version__)") == "2.11.0+cpu"
    shown = capsys.readouterr()
    assert "from py-rattler" in shown.err and "conda activate" in shown.out


def fake_tool(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)
    return tool


@pytest.mark.parametrize("name", ["micromamba", "mamba", "conda"])
def test_a_tool_gets_the_written_environment_yml(tmp_path: Path, name: str) -> None:
    tool = fake_tool(tmp_path / "bin", name, 'echo "$@"; echo "cuda $CONDA_OVERRIDE_CUDA"')
    asked = Conda(
        tool=tool, channels=("conda-forge",), python="3.12", platform="linux_x86_64",
        virtual=(Virtual(name="__cuda", version="12.8"),),
    )  # fmt: skip
    heard: list[str] = []
    path = tmp_path / "made"
    create_with_conda(asked, path, Settings(cache_dir=tmp_path), on_line=heard.append)
    verb = "create" if name == "micromamba" else "env update"
    assert heard[0].startswith(f"{verb} --prefix {path} --file {path / 'conda-environment.yml'}")
    assert heard[1] == "cuda 12.8"
    assert (path / "conda-environment.yml").read_text() == environment_yml(asked)
    assert environment_yml(asked).splitlines() == [
        "channels:", "- conda-forge", "- nodefaults", "dependencies:", "- python=3.12", "- pip",
    ]  # fmt: skip


def test_a_tool_that_fails_leaves_nothing(
    store: Path, tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    fake_tool(tmp_path / "bin", "micromamba", "echo 'critical libmamba: no such channel'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    lock = lock_file(tmp_path, served_lock(server, SIX))
    assert run(arguments(lock, server, "--manager", "conda")) == 3
    said = capsys.readouterr().err
    assert "micromamba" in said and "no such channel" in said and "hint: " in said
    assert builds(store) == []


def test_without_any_conda_it_says_how_to_get_one(
    store: Path, tmp_path: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("envsolve.environment.conda._found_rattler", lambda: False)
    monkeypatch.setattr("envsolve.environment.conda._on_path", lambda: None)
    assert run(arguments(lock_file(tmp_path, served_lock(server)), server, "--manager", "conda")) == 2
    assert "hint: pip install 'envsolve[conda]'" in capsys.readouterr().err


@pytest.fixture
def by_conda(channel: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What an install by py-rattler from that channel is asked with, as on a machine with a driver."""
    monkeypatch.setattr("envsolve.environment.conda._on_path", lambda: None)
    monkeypatch.setattr("envsolve.lock.virtual.virtual_packages", lambda *args, **more: conda(channel).virtual)
    return ["--manager", "conda", "--conda-channel", channel]


@needs_rattler
@needs_linux
def test_one_of_condas_lives_as_any_other(
    store: Path, tmp_path: Path, by_conda: list[str], server: IndexServer, capsys: Output
) -> None:
    """It is taken once, replaced, listed, found, run in and removed."""
    lock = lock_file(tmp_path, served_lock(server, SIX))
    assert run(arguments(lock, server, *by_conda)) == 0
    (first,) = builds(store)
    assert run(arguments(lock, server, *by_conda)) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(arguments(lock, server, *by_conda, "--replace")) == 0
    (second,) = builds(store)
    assert second != first
    capsys.readouterr()

    assert run(["envs", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["environments"]
    assert (listed["name"], listed["python"], listed["torch"]) == ("fresh", VERSION, "2.11.0+cpu")
    assert run(["envs", "path", "fresh"]) == 0
    assert capsys.readouterr().out.strip() == str(store / "envs/fresh")
    code = "import os, six, from_conda; print(os.environ['CONDA_PREFIX'], 'VIRTUAL_ENV' in os.environ)"
    said = subprocess.run(
        [sys.executable, "-m", "envsolve", "envs", "run", "fresh", "--", "python", "-c", code],
        capture_output=True, text=True, check=True, env={**os.environ, "VIRTUAL_ENV": "another"},
    )  # fmt: skip
    assert said.stdout.strip() == f"{store / 'builds' / second} False"
    assert run(["envs", "remove", "fresh"]) == 0
    assert builds(store) == []


@needs_rattler
@needs_linux
def test_an_upgrade_of_condas(
    store: Path, tmp_path: Path, channel: str, by_conda: list[str], server: IndexServer, capsys: Output
) -> None:
    """From the channels that it came from, under its old name; the old one stays where that fails."""
    server.add_wheel("cpu", stub_torch("2.11.0+cpu", requires=("six",)))
    server.add_package(SIX)
    sources = ["--mirror", server.whl, "--index", server.simple, "--refresh"]
    asked = ["torch==2.11.0", "--variant", "cpu", "--name", "fresh", "--verify", "later"]
    assert run(["install", *asked, *by_conda, *sources]) == 0
    (old,) = builds(store)
    server.add_package(StubWheel(name="six", version="1.18.0"))

    listed = tmp_path / "channel" / SUBDIRS[this_host().platform] / "repodata.json"
    kept = listed.read_text()
    listed.write_text('{"info": {}, "packages": {}}')
    again = ["upgrade", "--name", "fresh", "--verify", "later", *sources]
    assert run([*again, "--conda-channel", channel]) == 3
    assert "can't make a Python" in capsys.readouterr().err and builds(store) == [old]
    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"

    listed.write_text(kept)
    assert run(again) == 0
    (new,) = builds(store)
    assert new != old
    assert says(store / "envs/fresh", "import torch, six, from_conda; print(six.__version__)") == "1.18.0"
    marker = read_marker(store / "envs/fresh")
    assert marker is not None and marker.channels == (channel,) and marker.conda == "py-rattler"


def test_channels_are_for_conda_only(store: Path, capsys: Output) -> None:
    assert run(["install", "torch", "--name", "x", "--conda-channel", "conda-forge"]) == 2
    assert "--manager conda" in capsys.readouterr().err


def test_no_credentials_of_a_channel_are_kept(tmp_path: Path) -> None:
    secret = ("https://user:secret@host/conda-forge", "https://host/t/secret/private")
    asked = dataclasses.replace(conda("x"), tool=fake_tool(tmp_path / "bin", "micromamba", "exit 0"), channels=secret)
    create_with_conda(asked, tmp_path / "made", Settings(cache_dir=tmp_path), on_line=print)
    assert "secret" not in (tmp_path / "made/conda-environment.yml").read_text()
    assert asked.public_channels == ("https://host/conda-forge", "https://host/private")
