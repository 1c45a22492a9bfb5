"""Changing an environment later: a new one under the old name, the old one kept until then."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.marker import read_marker, write_marker
from envsolve.machine.host import this_host
from fakes.index_server import IndexServer
from fakes.installing import SIX, builds, install, lock_file, says
from fakes.stub_locks import served_lock
from fakes.stub_wheels import StubWheel, stub_torch

Output = pytest.CaptureFixture[str]
planned = pytest.mark.skipif(this_host().platform != "linux_x86_64", reason="the stub is a Linux x86-64 build")
NEWER = StubWheel(name="six", version="1.18.0")


def sources(server: IndexServer) -> list[str]:
    return ["--mirror", server.whl, "--index", server.simple, "--refresh"]


def made(server: IndexServer, *more: str) -> None:
    server.add_wheel("cpu", stub_torch("2.11.0+cpu", requires=("six",)))
    server.add_package(SIX)
    argv = ["install", "torch==2.11.0", *more, "--variant", "cpu", "--name", "fresh", "--verify", "later"]
    assert run([*argv, *sources(server)]) == 0


def upgrade(server: IndexServer, *more: str) -> int:
    return run(["upgrade", *more, "--name", "fresh", "--verify", "later", *sources(server)])


@planned
def test_what_was_asked_for_is_planned_again(store: Path, server: IndexServer) -> None:
    made(server)
    (old,) = builds(store)
    server.add_package(NEWER)
    assert upgrade(server) == 0
    assert says(store / "envs/fresh", "import torch, six; print(six.__version__)") == "1.18.0"
    assert len(builds(store)) == 1 and old not in builds(store)
    assert read_marker(store / "envs/fresh").asked == ("torch==2.11.0", "--variant", "cpu")  # type: ignore[union-attr]


@planned
def test_more_may_be_asked_for(store: Path, server: IndexServer) -> None:
    made(server)
    server.add_package(StubWheel(name="other", version="3"))
    server.add_package(NEWER)
    assert upgrade(server, "other", "six<1.18") == 0
    assert says(store / "envs/fresh", "import torch, six, other; print(six.__version__)") == "1.17.0"
    asked = read_marker(store / "envs/fresh").asked  # type: ignore[union-attr]
    assert asked == ("torch==2.11.0", "other", "six<1.18", "--variant", "cpu")
    assert upgrade(server, "six") == 0
    assert says(store / "envs/fresh", "import torch, six, other; print(six.__version__)") == "1.18.0"


@planned
def test_nothing_newer_does_nothing(store: Path, server: IndexServer, capsys: Output) -> None:
    made(server)
    (old,) = builds(store)
    marker = read_marker(store / "envs/fresh")
    assert marker is not None
    write_marker(store / "builds" / old, dataclasses.replace(marker, stage="verified"))
    assert upgrade(server) == 0
    assert "nothing newer" in capsys.readouterr().err
    assert builds(store) == [old]


@planned
def test_one_that_does_not_prove_itself_leaves_the_old_one(store: Path, server: IndexServer, capsys: Output) -> None:
    made(server)
    server.add_package(NEWER)
    assert run(["upgrade", "--name", "fresh", *sources(server)]) == 1  # a stub computes nothing
    assert "failed verification" in capsys.readouterr().err
    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"


def test_from_another_lock(store: Path, tmp_path: Path, server: IndexServer) -> None:
    assert install(lock_file(tmp_path, served_lock(server, SIX)), server) == 0
    lock = lock_file(tmp_path, served_lock(server, NEWER))
    assert run(["upgrade", "--name", "fresh", "--lock", str(lock), "--index", server.simple, "--verify", "later"]) == 0
    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.18.0"


def test_one_made_from_a_lock_needs_to_be_told(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output
) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    assert run(["upgrade", "--name", "fresh"]) == 2
    assert "was made from a lock" in capsys.readouterr().err


def test_there_must_be_one(store: Path, capsys: Output) -> None:
    assert run(["upgrade", "--name", "nothing"]) == 2
    assert "there is no environment 'nothing'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"), [(["fresh"], "fresh"), (["torch>=2.11"], "pytorch_new"), ([], "pytorch_new")]
)
def test_a_name_without_its_option_is_understood(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["upgrade", *words]) == 2
    assert f"hint: envsolve upgrade --name {meant}\n" in capsys.readouterr().err
