"""The script of a source build, run with stand-ins for the toolkit, the compiler, git and Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.build_tools import BuildTools


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """For a K40 and an RTX 3090: torch 1.13.1 with CUDA 11.7."""
    target = "Tesla K40c + RTX 3090,driver=470.82,python=3.10,os=linux,arch=x86_64"
    folder = tmp_path / "a recipe"
    assert run(["source-build", "--torch", "1.13.1", "--target", target, "-o", str(folder)]) == 0
    return folder / "build-torch.sh"


@pytest.fixture
def tools(tmp_path: Path) -> BuildTools:
    return BuildTools(tmp_path / "tools", cuda="11.7", gcc="11", cudnn=8, python="3.10")


def build(script: Path, tools: BuildTools, work: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(script), str(work)]
    return subprocess.run(command, capture_output=True, text=True, env=tools.environ(**environ), cwd=work.parent)


def test_three_wheels_for_exactly_these_cards(script: Path, tools: BuildTools, tmp_path: Path) -> None:
    work = tmp_path / "my work"
    done = build(script, tools, work, MAX_JOBS="3")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name.split("-cp310")[0] for path in (work / "wheels").iterdir()) == [
        "torch-1.13.1+cu117.source",
        "torchaudio-0.13.1+cu117.source",
        "torchvision-0.14.1+cu117.source",
    ]
    built = [line for line in tools.log if line.startswith("build ")]
    assert built == [
        "build torch 1.13.1+cu117.source arch=3.5;8.6 jobs=3 cxx=g++-11",
        "build torchvision 0.14.1+cu117.source arch=3.5;8.6 jobs=3 cxx=g++-11",
        "build torchaudio 0.13.1+cu117.source arch=3.5;8.6 jobs=3 cxx=g++-11",
    ]
    assert "for torchvision flash= torch=1.13.1" in tools.log
    clones = [line for line in tools.log if line.startswith("git ")]
    assert (
        "--branch v1.13.1 --recurse-submodules --shallow-submodules https://github.com/pytorch/pytorch.git" in clones[0]
    )
    assert "--branch v0.14.1" in clones[1] and "--branch v0.13.1" in clones[2]
    assert "envsolve verify --path" in done.stderr and (work / "constraints.txt").read_text().startswith(
        "setuptools<80"
    )


def test_an_interrupted_build_goes_on_where_it_was(script: Path, tools: BuildTools, tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert build(script, tools, work, FAIL="torchvision").returncode != 0
    assert [path.name.split("-")[0] for path in (work / "wheels").iterdir()] == ["torch"]
    (work / "src" / "torchvision").rename(work / "src" / "torchvision.part")  # a clone that was cut short
    before = len(tools.log)
    assert build(script, tools, work).returncode == 0
    after = tools.log[before:]
    assert not [line for line in after if "build torch " in line] and len(list((work / "wheels").iterdir())) == 3
    assert sum(line.startswith("git ") for line in after) == 2  # torchvision again, torchaudio for the first time


def test_jobs_come_from_cores_and_memory(script: Path, tools: BuildTools, tmp_path: Path) -> None:
    done = build(script, tools, tmp_path / "work")
    (line,) = [line for line in done.stderr.splitlines() if " jobs (" in line]
    numbers = [int(word) for word in line.replace("(", " ").split() if word.isdigit()]
    jobs, cores, memory, each = numbers[:4]
    assert jobs == max(1, min(cores, memory // each)) and each == 2048


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuda": "12.1"}, "is not CUDA 11.7"),
        ({"gcc": "13"}, "is gcc 13; CUDA 11.7 and this torch take gcc 11 10 9"),
        ({"cudnn": 9}, "is cuDNN 9, not 8"),
    ],
)
def test_what_does_not_go_with_the_recipe_stops_it_before_anything_is_fetched(
    change: dict[str, object], words: str, script: Path, tmp_path: Path
) -> None:
    fields: dict[str, object] = {"cuda": "11.7", "gcc": "11", "cudnn": 8, "python": "3.10", **change}
    tools = BuildTools(tmp_path / "other", **fields)  # type: ignore[arg-type]
    done = build(script, tools, tmp_path / "work")
    assert done.returncode == 1 and words in done.stderr and "build-torch: hint: " in done.stderr
    assert tools.log == []


def test_a_missing_toolkit_and_a_missing_python_are_named(script: Path, tools: BuildTools, tmp_path: Path) -> None:
    done = build(script, tools, tmp_path / "work", CUDA_HOME="/no/cuda")
    assert done.returncode == 1 and "install the CUDA 11.7 toolkit, or set CUDA_HOME" in done.stderr
    (tools.folder / "bin" / "python3.10").unlink()
    done = build(script, tools, tmp_path / "work")
    assert done.returncode == 1 and "install Python 3.10 with its headers and venv, or uv" in done.stderr


def test_linux_headers_that_this_torch_does_not_take(script: Path, tools: BuildTools, tmp_path: Path) -> None:
    tools.set_linux_headers(6, 0, 2)
    assert build(script, tools, tmp_path / "work").returncode == 0
    tools.set_linux_headers(6, 0, 3)
    done = build(script, tools, tmp_path / "work")
    assert done.returncode == 1 and "the Linux headers are too new for this torch" in done.stderr
