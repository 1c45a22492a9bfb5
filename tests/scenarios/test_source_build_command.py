"""`envsolve source-build`: no wheel has code for the card any more, and somebody compiles PyTorch for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from envsolve.cli.app import run

TARGET = "Tesla K40c,driver=470.82,python=3.10,os=linux,arch=x86_64"

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def source_build(*words: str, target: str = TARGET) -> int:
    return run(["source-build", *words, "--target", target])


def test_script_and_dockerfile_for_a_card(capsys: Output) -> None:
    assert source_build("--torch", "1.13.1") == 0
    folder = Path("source-build")
    assert sorted(path.name for path in folder.iterdir()) == [".dockerignore", "Dockerfile", "build-torch.sh"]
    script = (folder / "build-torch.sh").read_text()
    assert "readonly ARCH_LIST_TORCH=3.5\n" in script and "readonly TORCHVISION=0.14.1\n" in script
    assert "#     envsolve source-build --torch 1.13.1 --target 'Tesla K40c," in script
    assert "export USE_FLASH_ATTENTION=0" in script
    assert os.access(folder / "build-torch.sh", os.X_OK)
    docker = (folder / "Dockerfile").read_text()
    assert "FROM nvidia/cuda:11.7.1-cudnn8-devel-ubuntu22.04 AS toolkit" in docker
    said = capsys.readouterr()
    assert "TORCH_CUDA_ARCH_LIST: 3.5 (without +PTX: " in said.out and "compile here: bash source-build/" in said.out
    assert said.err == "wrote source-build: Dockerfile, .dockerignore, build-torch.sh\n"


@pytest.mark.parametrize(
    ("torch", "target"),
    [
        ("1.13.1", TARGET),
        ("2.7.1", "RTX 5090,driver=580.65.06,python=3.12,os=linux,arch=x86_64"),
        ("1.13.1", "2x H100,driver=535.54.03,python=3.10,os=linux,arch=x86_64"),
        ("2.14.1", "GTX 1080 Ti,driver=580.65.06,python=3.12,os=linux,arch=x86_64"),
    ],
)
def test_shellcheck_and_hadolint_have_nothing_to_say(torch: str, target: str) -> None:
    tools = {"shellcheck": "build-torch.sh", "hadolint": "Dockerfile"}
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' '.join(missing)}: not installed")
    assert source_build("--torch", torch, "-o", "it's mine", target=target) == 0
    for tool, file in tools.items():
        done = subprocess.run([tool, f"it's mine/{file}"], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_name_in_the_target_can_not_add_a_line_to_the_script() -> None:
    odd = "$(touch owned);`touch owned`;'x',cc=3.5,driver=470.82,python=3.10,os=linux,arch=x86_64,vendor=nvidia"
    assert source_build("--torch", "1.13.1", target=odd) == 0
    script = Path("source-build/build-torch.sh").read_text()
    Path("head.sh").write_text(script.split("say() {")[0])
    assert subprocess.run(["bash", "head.sh"], capture_output=True, text=True).returncode == 0
    assert not Path("owned").exists()


@pytest.mark.parametrize(
    ("torch", "more", "target", "reason", "hint"),
    [
        ("2.7.1", ["--cuda", "12.6"], "cc=12.0,driver=580.65.06", "nvcc 12.6 makes code", "torch 2.7.1 with CUDA 12.8"),
        ("2.7.1", ["--cuda", "12.1"], "cc=3.5,driver=470.82", "nvcc 12.1 makes code", "torch 2.7.1 with CUDA 11.8"),
        ("2.11.0", ["--cuda", "13.0"], "cc=7.0,driver=580.65.06", "nvcc 13.0", "torch 2.11.0 with CUDA 12.9"),
        ("1.13.1", [], "cc=12.0,driver=580.65.06", "capability of 10.0", "torch 2.7.0 with CUDA 12.8"),
    ],
)  # fmt: skip
def test_impossible_combinations(
    torch: str, more: list[str], target: str, reason: str, hint: str, capsys: Output
) -> None:
    assert source_build("--torch", torch, *more, target=f"{target},python=3.10,os=linux,arch=x86_64") == 1
    error, said = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: torch {torch} can't be compiled here: ") and reason in error
    assert said.startswith(f"hint: the nearest that can: {hint}: envsolve source-build --torch ")
    assert not Path("source-build").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--torch", "newest"], "error: --torch newest: not a version"),
        (["--torch", "1.13.1", "--cuda", "x"], "error: --cuda x: not a cuda version"),
        ([], "error: missing option '--torch'"),
    ],
)
def test_wrong_usage(words: list[str], said: str, capsys: Output) -> None:
    assert source_build(*words) == 2
    assert capsys.readouterr().err.lower().startswith(said)


def test_the_nearest_that_is_hinted_at_works(capsys: Output) -> None:
    target = "cc=12.0,driver=580.65.06,python=3.12,os=linux,arch=x86_64"
    assert source_build("--torch", "1.13.1", target=target) == 1
    hint = capsys.readouterr().err.splitlines()[1]
    import shlex

    assert run(shlex.split(hint.split(": envsolve ")[1])) == 0


def test_nothing_is_overwritten_without_force(capsys: Output) -> None:
    assert source_build("--torch", "1.13.1") == 0
    Path("source-build/build-torch.sh").write_text("mine\n")
    assert source_build("--torch", "1.13.1") == 2
    assert "is there already" in capsys.readouterr().err
    assert Path("source-build/build-torch.sh").read_text() == "mine\n"
    assert source_build("--torch", "1.13.1", "--force") == 0
    assert Path("source-build/build-torch.sh").read_text().startswith("#!")


def test_json(capsys: Output) -> None:
    assert source_build("--torch", "v1.13.1", "--cuda", "11.6.2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["cuda"], found["arch_list"], found["folder"]) == (1, "11.6", "3.5", "source-build")


def test_one_of_several_cards(capsys: Output) -> None:
    target = "GTX 680 + RTX 3090,driver=470.82,python=3.10,os=linux,arch=x86_64"
    assert source_build("--torch", "1.13.1", target=target) == 1
    assert source_build("--torch", "1.13.1", "--gpus", "1", target=target) == 0
    assert "readonly ARCH_LIST_TORCH=8.6" in Path("source-build/build-torch.sh").read_text()
