"""The Dockerfile really built and run, where a builder is at hand: docker with a daemon, or buildah with the base.

For buildah: the image docker.io/library/python:3.11-slim-bookworm (or a stand-in of that name) must be on this machine.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.pytorch_index import serve_as_pytorch_index
from fakes.stub_torch import TORCH, gpus
from fakes.stub_wheels import StubWheel

pytestmark = pytest.mark.slow

BASE = "docker.io/library/python:3.11-slim-bookworm"
TARGET = "RTX 5070 Ti,driver=570.86.10,python=3.11,os=linux,arch=x86_64"


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True)


class Docker:
    build = ("docker", "build", "--network", "host", "-t", "envsolve-test")
    start = ("docker", "run", "--rm", "envsolve-test")
    remove = ("docker", "rmi", "envsolve-test")


class Buildah:
    build = (
        "buildah",
        "--storage-driver",
        "vfs",
        "bud",
        "--isolation",
        "chroot",
        "--pull-never",
        "-t",
        "envsolve-test",
    )
    remove = ("buildah", "--storage-driver", "vfs", "rmi", "envsolve-test")


@pytest.fixture(scope="module")
def builder() -> Iterator[type[Docker] | type[Buildah]]:
    found = _at_hand()
    yield found
    call(*found.remove)


def _at_hand() -> type[Docker] | type[Buildah]:
    if shutil.which("docker") and call("docker", "info").returncode == 0:
        return Docker
    if (
        shutil.which("buildah")
        and call("buildah", "--storage-driver", "vfs", "inspect", "-t", "image", BASE).returncode == 0
    ):
        return Buildah
    pytest.skip("no docker daemon, and no buildah with the base image")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: object) -> Path:
    """An image of a stub torch that sees one GPU, built with the index still up."""
    version = "__version__ = '2.11.0+cu128'\ncuda = '12.8'\nhip = None\n"
    code = TORCH + gpus((12, 0), targets="sm_80 sm_90 sm_120")
    torch = StubWheel(
        name="torch",
        version="2.11.0+cu128",
        tag="cp311-cp311-manylinux_2_28_x86_64",
        requires=("markupsafe",),
        modules={"torch/__init__.py": code, "torch/version.py": version},
    )
    with IndexServer() as server:
        serve_as_pytorch_index(monkeypatch, server.whl)
        server.add_wheel("cu128", torch)
        server.add_package(StubWheel(name="markupsafe", version="3.0.3"))
        words = ["container", "torch", "--target", TARGET, "--mirror", server.whl, "--index", server.simple]
        assert run([*words, "-o", str(tmp_path / "image")]) == 0
        assert isinstance(builder, type)
        done = call(*builder.build, str(tmp_path / "image"))  # type: ignore[attr-defined]
        assert done.returncode == 0, done.stdout + done.stderr
        assert "check_torch: torch 2.11.0+cu128 is what was locked" in done.stdout + done.stderr
    return tmp_path / "image"


def test_the_image_builds_checks_itself_and_hands_over_to_the_command(
    folder: Path, builder: type[Docker] | type[Buildah]
) -> None:
    script = "import os, torch; print(torch.__version__, os.getuid())"
    if builder is Docker:
        done = call(*Docker.start, "python", "-c", script)
    else:
        buildah = ("buildah", "--storage-driver", "vfs")
        container = call(*buildah, "from", "--pull-never", "envsolve-test").stdout.strip()
        check = ("python", "/opt/check/check_torch.py", "--")  # buildah run takes no entry point
        done = call(*buildah, "run", "--isolation", "chroot", container, "--", *check, "python", "-c", script)
        call(*buildah, "rm", container)
    assert (done.returncode, done.stdout) == (0, "2.11.0+cu128 10001\n"), done.stderr
