"""`envsolve container`: a team wants an image that holds exactly the lock and says at start whether the GPU works."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.pytorch_index import serve_as_pytorch_index
from fakes.stub_wheels import StubWheel, stub_family

TARGET = "RTX 5070 Ti,driver=570.86.10,python=3.12,os=linux,arch=x86_64,glibc=2.17"

Output = pytest.CaptureFixture[str]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    """2.11.0 on cu128, complete; behind the mirror there is nothing more."""
    monkeypatch.chdir(tmp_path)
    with IndexServer() as server:
        tag = "cp312-cp312-manylinux_2_28_x86_64"
        family = stub_family("cu128", tag=tag, torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0")
        for wheel in family:
            server.add_wheel("cu128", wheel)
        serve_as_pytorch_index(monkeypatch, server.whl)
        yield server


def container(index: IndexServer, *words: str, target: str = TARGET) -> int:
    return run(["container", *words, "--target", target, "--mirror", index.whl, "--index", index.simple])


def test_a_host_too_old_for_the_wheels_gets_an_image_that_is_not(index: IndexServer, capsys: Output) -> None:
    """glibc 2.17 outside does not matter: the base image brings its own."""
    assert container(index) == 0
    folder = Path("container")
    assert sorted(path.name for path in folder.iterdir()) == [
        ".dockerignore",
        "Dockerfile",
        "check_torch.py",
        "expected.json",
        "requirements.lock.txt",
    ]
    text = (folder / "Dockerfile").read_text()
    assert text.startswith("# syntax=docker/dockerfile:1\n# made by envsolve ")
    assert "#     envsolve container --target" in text and "FROM python:3.12-slim-bookworm\n" in text
    assert "torch-2.11.0%2Bcu128-" in (folder / "requirements.lock.txt").read_text()
    expected = json.loads((folder / "expected.json").read_text())
    assert expected["versions"] == {
        "torch": "2.11.0+cu128",
        "torchaudio": "2.11.0+cu128",
        "torchvision": "0.26.0+cu128",
    }
    assert (expected["cuda"], expected["codes"]) == ("12.8", ["sm_120"])
    said = capsys.readouterr()
    assert "docker build -t my-torch container\n" in said.out
    assert "pytorch/pytorch:2.11.0-cuda12.8-cudnn9-runtime" in said.out
    assert said.err.startswith("wrote container: Dockerfile, ")


def test_the_files_lint(index: IndexServer) -> None:
    assert container(index, "torch", "-o", "my image") == 0
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    assert subprocess.run([hadolint, "my image/Dockerfile"], capture_output=True).returncode == 0


def test_nothing_is_overwritten_without_force(index: IndexServer, capsys: Output) -> None:
    Path("container").mkdir()
    Path("container/Dockerfile").write_text("FROM scratch\n")
    assert container(index, "torch") == 2
    assert capsys.readouterr().err == (
        "error: container/Dockerfile is there already\nhint: -o names another folder, --force overwrites\n"
    )
    assert index.requests == [] and len(list(Path("container").iterdir())) == 1
    assert container(index, "torch", "--force") == 0
    assert "python:3.12-slim" in Path("container/Dockerfile").read_text()


def test_a_link_is_replaced_and_not_followed(index: IndexServer) -> None:
    Path("mine.txt").write_text("keep\n")
    Path("container").mkdir()
    Path("container/Dockerfile").symlink_to("../mine.txt")
    assert container(index, "torch") == 2
    assert container(index, "torch", "--force") == 0
    assert Path("mine.txt").read_text() == "keep\n" and not Path("container/Dockerfile").is_symlink()


def test_a_folder_that_cannot_be_is_wrong_usage(index: IndexServer, capsys: Output) -> None:
    Path("container").write_text("")
    assert container(index, "torch") == 2
    assert "container is a file, not a folder" in capsys.readouterr().err


def test_no_plan_writes_nothing(index: IndexServer, capsys: Output) -> None:
    target = TARGET.replace("570.86.10", "550.54.14")
    assert container(index, "torch", target=target) == 1
    assert "no build runs" in capsys.readouterr().out and not Path("container").exists()


def test_an_index_that_is_down_leaves_no_folder_behind(index: IndexServer) -> None:
    index.fault("/*", status=503)
    assert container(index, "torch", "-o", "a/b/c") == 3
    assert not Path("a").exists()


def test_an_existing_lock_goes_in(index: IndexServer, capsys: Output) -> None:
    words = ["lock", "torch", "--target", TARGET.replace("glibc=2.17", "glibc=2.35")]
    assert run([*words, "--mirror", index.whl, "--index", index.simple]) == 0
    index.requests.clear()
    assert container(index, "--lock", "requirements.lock.txt", "--installer", "uv", "-o", "image") == 0
    assert index.requests == []
    text = Path("image/Dockerfile").read_text()
    assert "envsolve container --lock requirements.lock.txt" in text.replace(f"--target '{TARGET}' ", "")
    assert "uv pip install" in text
    assert Path("image/requirements.lock.txt").read_text() == Path("requirements.lock.txt").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lock", "absent.txt"], "can't read the lock absent.txt"),
        (["torch", "--lock", "requirements.lock.txt"], "--lock says what goes in"),
        (["--installer", "conda"], "--installer conda: must be pip or uv"),
        (["--python", "3.13t"], "no official image of free-threaded Python"),
    ],
)
def test_wrong_usage(index: IndexServer, words: list[str], said: str, capsys: Output) -> None:
    assert container(index, *words) == 2
    assert said in capsys.readouterr().err and not Path("container").exists()


def test_a_wheel_of_this_disk_can_not_go_into_an_image(index: IndexServer, capsys: Output, tmp_path: Path) -> None:
    wheels = tmp_path / "my wheels"
    wheels.mkdir()
    own = StubWheel(name="our-tools", version="1")
    (wheels / own.filename).write_bytes(own.content)
    assert container(index, "torch", "our-tools", "--find-links", str(wheels)) == 2
    assert "from this machine's disk, so that no image can hold them: our-tools" in capsys.readouterr().err
    assert not Path("container").exists()


def test_credentials_of_an_index_never_reach_the_image(index: IndexServer) -> None:
    whl = index.whl.replace("://", "://user:secret@")
    simple = index.simple.replace("://", "://user:secret@")
    words = ["container", "torch", "--target", TARGET, "--mirror", whl, "--index", simple]
    assert run(words) == 0
    for path in Path("container").iterdir():
        assert "secret" not in path.read_text()
    assert f"ARG PIP_INDEX_URL={index.simple}" in Path("container/Dockerfile").read_text()


def test_only_the_images_of_others_without_network_and_files(index: IndexServer, capsys: Output) -> None:
    assert container(index, "--images", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["folder"] is None and found["images"][0]["image"].startswith("pytorch/pytorch:2.11.0-cuda12.8")
    assert index.requests == [] and not Path("container").exists()


def test_only_the_torch_that_is_asked_for_is_offered(index: IndexServer, capsys: Output) -> None:
    assert container(index, "torch==2.7.1", "--images") == 0
    assert "  pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime" in capsys.readouterr().out


def test_one_of_several_cards(index: IndexServer) -> None:
    target = TARGET.replace("RTX 5070 Ti", "Tesla K80 + RTX 5070 Ti")
    assert container(index, "torch", "--gpus", "1", target=target) == 0
    assert json.loads(Path("container/expected.json").read_text())["codes"] == ["sm_120"]
    assert "--gpus 1" in Path("container/Dockerfile").read_text()


def test_requirements_from_files_with_constraints(index: IndexServer) -> None:
    Path("requirements.in").write_text("torch\nmarkupsafe\n")
    Path("caps.txt").write_text("markupsafe<3\n")
    for version in ("2.1.5", "3.0.3"):
        index.add_package(StubWheel(name="markupsafe", version=version))
    assert container(index, "-r", "requirements.in", "-c", "caps.txt") == 0
    assert "markupsafe==2.1.5" in Path("container/requirements.lock.txt").read_text()
    assert "envsolve container -r requirements.in -c caps.txt" in Path("container/Dockerfile").read_text()
