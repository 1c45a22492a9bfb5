"""A bundle: made with a network, installed without one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.installing import SIX, lock_file, says
from fakes.stub_locks import served_lock
from fakes.stub_wheels import StubWheel

Output = pytest.CaptureFixture[str]


@pytest.fixture
def bundle(store: Path, tmp_path: Path, server: IndexServer) -> Path:
    """A bundle of a stub torch and two others, made from a lock's text, whose server is then out of reach."""
    lock = lock_file(tmp_path, served_lock(server, SIX, StubWheel(name="other-thing", version="2")))
    folder = tmp_path / "bundle of mine"
    assert run(["bundle", "-o", str(folder), "--lock", str(lock), "--index", server.simple]) == 0
    server.requests.clear()
    server.fault("*", status=500)
    return folder


def test_it_holds_everything_with_checksums(bundle: Path) -> None:
    assert sorted(path.name for path in bundle.iterdir()) == [
        "SHA256SUMS", "install.sh", "offline.txt", "requirements.lock.txt", "wheels",
    ]  # fmt: skip
    assert len(list((bundle / "wheels").iterdir())) == 3
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS"], cwd=bundle, check=True)


def test_it_installs_without_any_index(bundle: Path, store: Path, server: IndexServer, installer: str) -> None:
    argv = ["install", "--bundle", str(bundle), "--name", "fresh", "--installer", installer, "--verify", "later"]
    assert run(argv) == 0
    made = store / "envs/fresh"
    assert says(made, "import torch, six, other_thing; print(torch.__version__)") == "2.11.0+cpu"
    assert server.requests == []
    assert (made / "envsolve-lock.txt").read_text() == (bundle / "requirements.lock.txt").read_text()
    frozen = says(made, "import subprocess, sys; subprocess.run([sys.executable, '-m', 'pip', 'freeze'])")
    assert str(bundle) not in frozen and "six==1.17.0" in frozen


def test_it_installs_in_a_namespace_without_a_network(bundle: Path, store: Path, installer: str) -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    command = [sys.executable, "-m", "envsolve", "install", "--bundle", str(bundle), "--name", "fresh"]
    command += ["--installer", installer, "--verify", "later"]
    done = subprocess.run(["unshare", "-rn", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"


@pytest.mark.slow
def test_its_script_needs_no_envsolve(bundle: Path, tmp_path: Path) -> None:
    if os.name == "nt" or not shutil.which("sha256sum"):
        pytest.skip("a shell script")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / version).symlink_to(os.path.realpath(sys.executable))
    for name in ("sh", "dirname", "sha256sum"):
        (tools / name).symlink_to(shutil.which(name) or "")
    done = subprocess.run(
        [bundle / "install.sh", str(tmp_path / "made")],
        env={"PATH": str(tools), "HOME": os.environ["HOME"], "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert says(tmp_path / "made", "import six, torch; print(torch.__version__)") == "2.11.0+cpu"


@pytest.mark.parametrize("what", ["wheel", "lock", "missing", "sums"])
def test_a_bundle_that_has_changed_is_refused(bundle: Path, store: Path, capsys: Output, what: str) -> None:
    wheel = next((bundle / "wheels").glob("six-*"))
    if what == "wheel":
        wheel.write_bytes(b"other bytes")
    elif what == "lock":
        with (bundle / "requirements.lock.txt").open("a") as file:
            file.write("# more\n")
    elif what == "missing":
        wheel.unlink()
    else:
        (bundle / "SHA256SUMS").write_text("0" * 64 + "  ../../../etc/passwd\n")
    assert run(["install", "--bundle", str(bundle), "--name", "fresh", "--verify", "later"]) == (
        2 if what == "sums" else 1
    )
    said = capsys.readouterr().err
    assert "error: " in said
    assert not (store / "envs/fresh").exists()


def test_not_a_bundle(store: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(["install", "--bundle", str(tmp_path), "--name", "fresh"]) == 2
    assert "holds no bundle" in capsys.readouterr().err


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run(["bundle", "-o", str(tmp_path), "--lock", str(tmp_path / "x.txt")]) == 2
    assert "not empty" in capsys.readouterr().err


@pytest.mark.parametrize("fault", [{"wrong": True}, {"status": 404}, {"html": True}], ids=["other", "gone", "html"])
def test_a_file_that_cannot_be_had_leaves_no_bundle(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output, fault: dict[str, object]
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.fault("*/six-*.whl", **fault)
    folder = tmp_path / "bundle"
    assert run(["bundle", "-o", str(folder), "--lock", str(lock), "--index", server.simple]) in (1, 3)
    assert "error: " in capsys.readouterr().err
    assert not folder.exists() and [path.name for path in tmp_path.glob(".bundle*")] == []


def test_it_says_how_to_go_on(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    lock = lock_file(tmp_path, served_lock(server))
    assert run(["bundle", "-o", str(tmp_path / "my bundle"), "--lock", str(lock), "--index", server.simple]) == 0
    assert capsys.readouterr().out == "envsolve install --bundle 'my bundle' --name NAME\n"


def test_json(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    argv = ["bundle", "-o", str(tmp_path / "b"), "--lock", str(lock), "--index", server.simple, "--json"]
    assert run(argv) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["packages"] == 2 and written["size_bytes"] > 0
