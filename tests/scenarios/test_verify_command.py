"""`envsolve verify`: which environment is meant, what is printed, and the exit code."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.marker import LOCK_COPY, Marker, read_marker, write_marker
from envsolve.lock import requirements_txt
from fakes.stub_locks import RUNNING, stub_lock
from fakes.stub_torch import ALL_ELSE_SKIPPED, StubEnvironment, gpus, stub_environment
from fakes.stub_wheels import stub_torch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stubs are laid out as on POSIX")
Output = pytest.CaptureFixture[str]


@pytest.fixture
def good(tmp_path: Path) -> StubEnvironment:
    return stub_environment(tmp_path / "env", more=ALL_ELSE_SKIPPED)


def lock_text(version: str) -> str:
    torch = stub_torch(version)
    return requirements_txt.write(stub_lock({f"https://example.org/{torch.filename}": torch}, []))


def marked(environment: StubEnvironment, version: str = "2.11.0+cpu") -> StubEnvironment:
    """The environment as `envsolve install` leaves it."""
    text = lock_text(version)
    (environment.path / LOCK_COPY).write_text(text)
    marker = Marker(
        name="env", stage="unverified", python=RUNNING, platform="linux_x86_64", variant="cpu",
        torch=version, lock_sha256="", made_by="envsolve",
    )  # fmt: skip
    write_marker(environment.path, marker)
    return environment


def test_an_environment_of_any_making(good: StubEnvironment, capsys: Output) -> None:
    assert run(["verify", "--path", str(good.path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith(f"{good.path}: Python {RUNNING}")
    assert shown[-1].startswith("verified: ")
    assert "no lock says which" not in shown[-1]


def test_the_active_environment(good: StubEnvironment, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(good.path))
    assert run(["verify", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["schema"], shown["verified"], shown["environment"]) == (1, True, str(good.path))


def test_the_lock_is_what_is_promised_and_the_result_is_remembered(good: StubEnvironment, capsys: Output) -> None:
    marked(good)
    assert run(["verify", "--path", str(good.path)]) == 0
    marker = read_marker(good.path)
    assert marker is not None
    assert marker.stage == "verified"
    assert marker.report is not None
    assert marker.report["torch"] == "2.11.0+cpu"

    marked(good, "2.10.0+cpu")
    assert run(["verify", "--path", str(good.path)]) == 1
    assert "torch 2.11.0+cpu (promised 2.10.0+cpu)" in capsys.readouterr().out
    marker = read_marker(good.path)
    assert marker is not None
    assert marker.stage == "failed"


def test_static_leaves_out_the_gpu_and_proves_nothing(tmp_path: Path, capsys: Output) -> None:
    more = gpus(targets="sm_90") + ALL_ELSE_SKIPPED
    env = stub_environment(tmp_path / "env", version="2.11.0+cu130", cuda="13.0", more=more)
    assert run(["verify", "--path", str(env.path)]) == 1
    assert "FAILED  driver" in capsys.readouterr().out
    assert run(["verify", "--path", str(env.path), "--static"]) == 0
    shown = capsys.readouterr().out
    assert "driver" not in shown
    assert "the binary has sm_90" in shown
    assert "static checks passed, no GPU was tried" in shown


def test_junit_for_ci(good: StubEnvironment, tmp_path: Path, capsys: Output) -> None:
    (good.site / "torch" / "version.py").write_text("__version__ = '9.9'\n")
    file = tmp_path / "junit.xml"
    assert run(["verify", "--path", str(good.path), "--ci", str(file)]) == 1
    suite = ET.parse(file).getroot()[0]
    assert int(suite.get("failures", "0")) >= 1
    assert "not verified" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        ([], "no environment was named, and none is active", 2),
        (["--name", "x", "--path", "y"], "give either --name NAME or --path DIR", 2),
        (["--name", "nothing"], "there is no environment 'nothing'", 2),
        (["--path", "nowhere"], "there is no Python environment at", 2),
        (["--path", ".", "--timeout", "0"], "--timeout is not a time", 2),
    ],
)
def test_what_can_not_be_verified(
    arguments: list[str], message: str, code: int, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["verify", *arguments]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"error: {message}" in shown.err
    assert "hint: " in shown.err


def test_an_environment_without_its_lock(good: StubEnvironment, capsys: Output) -> None:
    (marked(good).path / LOCK_COPY).unlink()
    assert run(["verify", "--path", str(good.path)]) == 2
    assert "can't read the environment's lock" in capsys.readouterr().err


def test_a_junit_file_that_can_not_be_written(good: StubEnvironment, tmp_path: Path, capsys: Output) -> None:
    assert run(["verify", "--path", str(good.path), "--ci", str(tmp_path / "no" / "where.xml")]) == 3
    assert "can't write" in capsys.readouterr().err
