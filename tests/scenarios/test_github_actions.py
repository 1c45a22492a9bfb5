"""docs/examples/github-actions.yml: what it runs is run here, against a fake index and a torch with pretended GPUs."""

from __future__ import annotations

import os
import re
import shlex
import sys
import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from envsolve.cli.app import run
from fakes.doc_pages import DOCS
from fakes.index_server import IndexServer
from fakes.installing import builds
from fakes.stub_locks import RUNNING
from fakes.stub_torch import ALL_ELSE_SKIPPED, TORCH, gpus
from fakes.stub_wheels import StubWheel

pytestmark = pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="the runners are Linux x86-64")
TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
PLACE = f"os=linux,arch=x86_64,glibc=2.35,python={RUNNING}"
TARGETS = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"
CUDNN = "\nbackends.cudnn.is_available = lambda: True\nif os.environ.get('STUB_WITHOUT_GPUS'): DEVICES = []\n"


def workflow() -> dict[str, Any]:
    document = yaml.safe_load((DOCS / "examples" / "github-actions.yml").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def torch(version: str, cuda: str | None, more: str) -> StubWheel:
    said = f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = None\n"
    modules = {"torch/__init__.py": TORCH + more + ALL_ELSE_SKIPPED, "torch/version.py": said}
    return StubWheel(name="torch", version=version, tag=f"{TAG}-{TAG}-manylinux_2_28_x86_64", modules=modules)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: IndexServer) -> Iterator[Path]:
    """A project whose locks are in its repo, and an index that serves them."""
    server.add_wheel("cpu", torch("2.11.0+cpu", None, ""))
    server.add_wheel("cu128", torch("2.11.0+cu128", "12.8", gpus((9, 0), targets=TARGETS) + CUDNN))
    monkeypatch.setenv("ENVSOLVE_MIRROR", server.whl)
    monkeypatch.setenv("ENVSOLVE_INDEX", server.simple)
    monkeypatch.setenv("ENVSOLVE_HOME", str(tmp_path / "envs"))
    folder = tmp_path / "project"
    (folder / "lockfiles").mkdir(parents=True)
    monkeypatch.chdir(folder)
    Path("requirements.in").write_text("torch==2.11.0\n")
    cpu = ["--variant", "cpu", "--target", PLACE, "-o", f"lockfiles/cpu-py{RUNNING}.lock.txt"]
    card = ["--variant", "cu128", "--target", f"H200,driver=580.65.06,{PLACE}", "-o", "lockfiles/gpu.lock.txt"]
    for words in (cpu, card):
        assert run(["lock", "-r", "requirements.in", *words]) == 0
    yield folder


def commands(job: Mapping[str, Any]) -> list[str]:
    """The lines that call envsolve, with the job's variables put in as the runner does."""
    values = {"matrix.python": RUNNING}
    lines = [line for step in job["steps"] for line in str(step.get("run", "")).splitlines()]
    found = [line for line in lines if line.startswith("envsolve ")]
    for name, value in job.get("env", {}).items():
        found = [line.replace(f"${name}", str(value)) for line in found]
    return [re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: values[match[1]], line) for line in found]


def outcome(line: str) -> int:
    return run(shlex.split(line)[1:])


def test_it_is_a_workflow() -> None:
    document = workflow()
    assert set(document["jobs"]) == {"locks", "cpu", "gpu"}
    assert {"pull_request", "push"} == set(document[True])  # YAML 1.1 reads `on` as a truth
    for job in document["jobs"].values():
        assert job["runs-on"] and all(("run" in step) != ("uses" in step) for step in job["steps"])
        written = {word for line in commands(job) for word in shlex.split(line) if word.endswith(".xml")}
        uploads = {step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")}
        assert written == uploads
    assert commands(document["jobs"]["locks"]) == ["envsolve check --format github"]


def test_the_locks_are_held_to_what_the_project_declares(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {f"cpu,{PLACE}": f"cpu-py{RUNNING}", f"H200,driver=580.65.06,{PLACE}": "gpu"}
    targets = "".join(f'[[targets]]\nmachine = "{m}"\nlocks = ["lockfiles/{n}.lock.txt"]\n' for m, n in rows.items())
    Path(".envsolve.toml").write_text(f'schema = 1\nrequirements = ["requirements.in"]\n{targets}')
    [line] = commands(workflow()["jobs"]["locks"])
    assert outcome(line) == 0
    capsys.readouterr()
    Path("requirements.in").write_text("torch==2.11.0\nnumpy-like\n")
    assert outcome(line) == 1
    said = capsys.readouterr().out
    assert all(f"::error file=lockfiles/{name}.lock.txt" in said for name in rows.values())


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_each_step_goes_well(project: Path, name: str) -> None:
    for line in commands(workflow()["jobs"][name]):
        if line.startswith("envsolve envs run "):  # becomes the program; tried in the tests of envs
            continue
        assert outcome(line) == 0, line
    (report,) = project.glob("junit-*.xml")
    suite = ET.parse(report).getroot()[0]
    assert int(suite.get("tests", "0")) > 5 and suite.get("failures") == "0"


def test_a_lock_that_no_longer_answers_stops_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("requirements.in").write_text("torch==2.11.0\nnumpy-like\n")
    checked = next(line for line in commands(workflow()["jobs"]["cpu"]) if "--check" in line)
    assert outcome(checked) != 0
    assert "numpy-like" in capsys.readouterr().err


def test_a_runner_without_its_gpus_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JUnit file is there for the upload also when the proof fails; the next run replaces the environment."""
    monkeypatch.setenv("STUB_WITHOUT_GPUS", "1")
    made, proven, *_ = commands(workflow()["jobs"]["gpu"])
    assert (outcome(made), outcome(proven)) == (0, 1)
    assert "FAILED  driver" in capsys.readouterr().out
    assert ET.parse("junit-gpu.xml").getroot()[0].get("failures") != "0"
    first = builds(Path(os.environ["ENVSOLVE_HOME"]))
    assert outcome(made) == 0 and builds(Path(os.environ["ENVSOLVE_HOME"])) != first
