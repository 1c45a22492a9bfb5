"""envsolve install REQ...: plan, lock, install, in one command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.machine.host import this_host
from fakes.index_server import IndexServer
from fakes.installing import SIX, builds, says
from fakes.stub_locks import RUNNING
from fakes.stub_wheels import StubWheel, stub_torch

Output = pytest.CaptureFixture[str]
pytestmark = pytest.mark.skipif(this_host().platform != "linux_x86_64", reason="the stub is a Linux x86-64 build")


def plan_and_install(server: IndexServer, *more: str) -> int:
    sources = ["--mirror", server.whl, "--index", server.simple]
    return run(["install", *more, "--name", "fresh", *sources])


def serve(server: IndexServer, *others: StubWheel) -> None:
    server.add_wheel("cpu", stub_torch("2.11.0+cpu", requires=("six",)))
    for wheel in others:
        server.add_package(wheel)


def test_plan_lock_and_install_in_one_go(store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server, SIX)

    assert plan_and_install(server, "torch==2.11.0", "--variant", "cpu", "--verify", "later", "--json") == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["torch"], said["variant"], said["state"]) == ("2.11.0+cpu", "cpu", "unverified")
    assert said["plan"]["status"] == "solved"
    lock = (store / "envs/fresh/envsolve-lock.txt").read_text()
    assert "envsolve lock torch==2.11.0 --variant cpu" in lock and f"--hash=sha256:{SIX.sha256}" in lock
    assert says(store / "envs/fresh", "import torch, six; print(torch.__version__)") == "2.11.0+cpu"


def test_what_does_not_prove_itself_offers_the_next_best(store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server, SIX)

    assert plan_and_install(server, "torch<=2.11.0", "--variant", "cpu") == 1

    error = capsys.readouterr().err
    assert "failed verification" in error
    assert "hint: envsolve install torch==" in error
    assert f"--variant cpu --python {RUNNING} --mirror {server.whl} --index {server.simple} --name fresh" in error
    assert not (store / "envs/fresh").exists()


def test_no_plan_is_a_no_with_its_reason(store: Path, server: IndexServer, capsys: Output) -> None:
    assert plan_and_install(server, "torch==2.11.0", "--variant", "cu75") in (1, 2)
    assert builds(store) == [] and server.count() == 0
    said = capsys.readouterr()
    assert "cu75" in said.out + said.err


def test_a_target_elsewhere_is_not_proven_here(store: Path, server: IndexServer) -> None:
    serve(server, SIX)
    assert plan_and_install(server, "torch==2.11.0", "--variant", "cpu", "--target", "RTX 4090,driver=570.86.15") == 0


def test_another_system_is_refused_before_anything_is_asked(store: Path, server: IndexServer, capsys: Output) -> None:
    assert plan_and_install(server, "torch", "--target", "RTX 4090,driver=570.86.15,os=windows") == 1
    assert "windows_amd64" in capsys.readouterr().err
    assert server.count() == 0


@pytest.mark.parametrize("more", [["torch"], ["--variant", "cpu"], ["--target", "RTX 4090"], ["--gpus", "best"]])
def test_a_lock_decides_alone(
    store: Path, server: IndexServer, tmp_path: Path, more: list[str], capsys: Output
) -> None:
    assert plan_and_install(server, "--lock", str(tmp_path / "x.txt"), *more) == 2
    assert "--lock" in capsys.readouterr().err
