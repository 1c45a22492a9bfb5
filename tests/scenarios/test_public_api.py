"""A program embeds envsolve: detect, plan, lock, install, verify, without a command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import envsolve
from envsolve.machine.host import this_host
from fakes.index_server import IndexServer
from fakes.installing import SIX
from fakes.stub_wheels import StubSdist, StubWheel, stub_torch

HERE = this_host()


def test_plan_for_another_machine() -> None:
    machine = envsolve.detect("GTX 1080 Ti,driver=580.65.06,python=3.11,os=linux,arch=x86_64")
    answer = envsolve.plan("torch", machine=machine)
    assert isinstance(answer, envsolve.Plan)
    assert (answer.variant, answer.fits[0].code) == ("cu126", "sm_60")


def test_python_outranks_the_machines() -> None:
    machine = envsolve.detect("GTX 1080 Ti,driver=580.65.06,python=3.6,os=linux,arch=x86_64")
    answer = envsolve.plan("torch", machine=machine, python="3.12")
    assert isinstance(answer, envsolve.Plan) and answer.python == "3.12"


def test_errors_are_the_librarys_own() -> None:
    with pytest.raises(envsolve.InputError, match="not a requirement"):
        envsolve.plan("torch=2.9")
    with pytest.raises(envsolve.InputError, match="there is no environment 'nope'"):
        envsolve.verify(name="nope")


@pytest.mark.skipif(HERE.platform != "linux_x86_64", reason="the stub is a Linux x86-64 build")
def test_lock_and_install(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cpu", stub_torch("2.11.0+cpu", requires=("six",)))
    server.add_package(SIX)
    settings = envsolve.load_settings(
        {"mirror": server.whl, "index": server.simple, "cache-dir": str(tmp_path / "cache")}
    )
    steps: list[str] = []
    locked = envsolve.lock("torch==2.11.0", variant="cpu", machine=HERE, settings=settings)
    assert isinstance(locked, envsolve.Locked)
    assert [(p.name, p.direct) for p in locked.lock.packages] == [("six", False), ("torch", True)]
    made = envsolve.install(locked.lock, path=tmp_path / "env", settings=settings, verify="later", say=steps.append)
    assert (made.state, made.torch) == ("unverified", "2.11.0+cpu")
    assert made.interpreter.is_file()
    assert any("installing" in step for step in steps)
    report = envsolve.verify(path=tmp_path / "env", static=True)
    assert {c.name: c.outcome for c in report.checks}["versions"] == "passed"


@pytest.mark.skipif(HERE.platform != "linux_x86_64", reason="the stub is a Linux x86-64 build")
def test_lock_takes_what_the_command_takes(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cpu", stub_torch("2.11.0+cpu"))
    for version in ("1.16", "1.17"):
        server.add_package(StubWheel(name="six", version=version))
    server.add_package(StubSdist(name="tool", version="1.0"))
    settings = envsolve.load_settings(
        {"mirror": server.whl, "index": server.simple, "cache-dir": str(tmp_path / "cache")}
    )

    def versions(*words: str, keep: envsolve.Lock | None = None, **options: Any) -> dict[str, str]:
        found = envsolve.lock(
            "torch==2.11.0", *words, variant="cpu", machine=HERE, settings=settings, keep=keep, **options
        )
        assert isinstance(found, envsolve.Locked)
        locks.append(found.lock)
        return {package.name: str(package.version) for package in found.lock.packages if package.name != "torch"}

    locks: list[envsolve.Lock] = []
    assert versions("six", constraints=["six<1.17"]) == {"six": "1.16"}
    assert versions("six") == {"six": "1.17"}
    assert versions("six", keep=locks[0]) == {"six": "1.16"}
    assert versions("six", keep=locks[0], upgrade=["SIX"]) == {"six": "1.17"}
    with pytest.raises(envsolve.RefusedError, match="tool has no wheel"):
        versions("tool")
    assert versions("tool", sdists=True) == {"tool": "1.0"}
    assert locks[-1].header.command == "envsolve lock torch==2.11.0 tool --variant cpu --sdists"


def test_constraints_of_a_plan() -> None:
    machine = envsolve.detect("RTX 4090,driver=580.65.06,python=3.11,os=linux,arch=x86_64")
    answer = envsolve.plan("torch", machine=machine, constraints=["torch<2.8"])
    assert isinstance(answer, envsolve.Plan) and str(answer.build.torch) == "2.7.1"


def test_rooms_with_the_name_of_a_function_can_be_called() -> None:
    """Once a submodule is imported, envsolve.lock is the room; it still does what envsolve.lock(...) says."""
    script = (
        "import envsolve.lock.lock, envsolve.verify.run, envsolve\n"
        "for call in (lambda: envsolve.lock('torch=1'), lambda: envsolve.verify(name='nope')):\n"
        "    try:\n"
        "        call()\n"
        "    except envsolve.InputError as error:\n"
        "        print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'torch=1' is not a requirement" in done.stdout
    assert "there is no environment 'nope'" in done.stdout


def test_importing_envsolve_loads_no_room() -> None:
    script = "import sys, envsolve; print([m for m in sys.modules if m.startswith('envsolve.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
