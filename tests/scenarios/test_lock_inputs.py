"""`envsolve lock` reads what projects have: pyproject.toml, environment.yml, constraints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LINUX, LockWorld, lock_world, names

DEFAULT = "requirements.lock.txt"
Output = pytest.CaptureFixture[str]

PYPROJECT = """
[project]
name = "app"
requires-python = ">=3.11"
dependencies = ["torch", "six"]
[project.optional-dependencies]
vision = ["torchvision"]
[dependency-groups]
test = ["idna<4"]
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.16", "1.17")
        ready.serve("idna", "3.10", "4.0")
        yield ready


def test_a_project_with_an_extra_and_a_group(world: LockWorld) -> None:
    Path("pyproject.toml").write_text(PYPROJECT)
    assert world.lock("-r", "pyproject.toml", "--extra", "vision", "--group", "test") == 0
    assert names(DEFAULT) == ["idna==3.10", "six==1.17", "torch-2.11.0%2Bcu128", "torchvision-0.26.0%2Bcu128"]
    assert "envsolve lock -r pyproject.toml --extra vision --group test --target" in Path(DEFAULT).read_text()


def test_constraints_on_the_command_line(world: LockWorld) -> None:
    Path("caps.txt").write_text("six<1.17\ntorch<2.11\nabsent==1\n")
    assert world.lock("torch", "six", "-c", "caps.txt") == 0
    assert names(DEFAULT) == ["six==1.16", "torch-2.10.0%2Bcu128"]
    assert "envsolve lock torch six -c caps.txt --target" in Path(DEFAULT).read_text()


def test_a_mistake_in_constraints_names_its_line(world: LockWorld, capsys: Output) -> None:
    Path("caps.txt").write_text("six<2\nidna[all]\n")
    assert world.lock("torch", "-c", "caps.txt") == 2
    assert capsys.readouterr().err.startswith("error: caps.txt:2: a constraint can hold a version only: 'idna[all]'")


def test_a_conda_environment(world: LockWorld, capsys: Output) -> None:
    Path("environment.yml").write_text(
        "name: x\ndependencies:\n  - python=3.12\n  - pytorch=2.10\n  - pytorch-cuda=12.8\n  - ffmpeg\n"
        "  - pip:\n    - six<1.17\n"
    )
    target = LINUX.replace("python=3.12,", "")
    assert world.lock("-r", "environment.yml", targets=(target,)) == 0
    assert names(DEFAULT) == ["six==1.16", "torch-2.10.0%2Bcu128"]
    assert "left out, since pip has none of them: environment.yml:6: ffmpeg" in capsys.readouterr().err
    assert "# python: 3.12" in Path(DEFAULT).read_text()


def test_the_cuda_of_a_conda_environment_is_a_pin_and_can_be_overruled(world: LockWorld, capsys: Output) -> None:
    Path("environment.yml").write_text("dependencies:\n  - pytorch\n  - pytorch-cuda=12.1\n")
    assert world.lock("-r", "environment.yml") == 1
    assert "12.0" in capsys.readouterr().out  # cu121 has no kernels for this card
    assert world.lock("-r", "environment.yml", "--variant", "cu128") == 0


def test_files_that_name_different_variants(world: LockWorld, capsys: Output) -> None:
    Path("a.yml").write_text("dependencies:\n  - pytorch-cuda=12.1\n")
    Path("b.yml").write_text("dependencies:\n  - cpuonly\n")
    assert world.lock("-r", "a.yml", "-r", "b.yml") == 2
    assert "a.yml:2 asks for cu121, b.yml:2 asks for cpu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--extra", "vision"], "--extra goes with a pyproject.toml", "-r pyproject.toml"),
        (["-r", "pyproject.toml", "--extra", "x"], "pyproject.toml has no extra 'x'", "it has: vision"),
        (["-r", "pyproject.toml", "--group", "x"], "pyproject.toml has no dependency group 'x'", "it has: test"),
        (["-r", "absent.toml"], "absent.toml is not a pyproject.toml", "-r takes"),
        (["-r", "absent.txt"], "can't read absent.txt: No such file", ""),
    ],
)
def test_what_is_not_there(world: LockWorld, capsys: Output, words: list[str], message: str, hint: str) -> None:
    Path("pyproject.toml").write_text(PYPROJECT)
    assert world.lock(*words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: {message}") and hint in shown


def test_a_python_that_the_project_does_not_take(world: LockWorld, capsys: Output) -> None:
    Path("pyproject.toml").write_text(PYPROJECT.replace(">=3.11", ">=3.13"))
    assert world.lock("-r", "pyproject.toml") == 2
    assert capsys.readouterr().err == (
        "error: pyproject.toml: project.requires-python asks for python >=3.13, and this is for 3.12\n"
        "hint: --python 3.13\n"
    )


def test_errors_are_json_as_well(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "absent", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["status"], found["packages"]) == (1, "no-solution", [])
    assert "no index here has absent" in found["error"]
    assert world.lock("six = 1", "--json") == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["error"].split(":")[0]) == ("error", "'six = 1' is not a requirement")
    world.server.fault("/simple/*", status=503)
    assert world.lock("torch", "six", "--refresh", "--json") == 3
    assert json.loads(capsys.readouterr().out)["status"] == "error"


def test_plan_takes_the_same_inputs(world: LockWorld, capsys: Output) -> None:
    Path("pyproject.toml").write_text('[project]\nname = "app"\ndependencies = ["torch<2.11"]\n')
    assert run(["plan", "-r", "pyproject.toml", "--target", LINUX, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["packages"] == [{"name": "torch", "version": "2.10.0+cu128"}]
