"""`envsolve plan --from`: whether another tool's pins run on this GPU, and the nearest set that does. No network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envsolve.cli.app import run

Output = pytest.CaptureFixture[str]
WHL = "https://download.pytorch.org/whl"
RTX_5070 = "RTX 5070 Ti,driver=570.86.10,python=3.12,os=linux,arch=x86_64"
RTX_4090 = "RTX 4090,driver=550.54.14,python=3.12,os=linux,arch=x86_64"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", no_network)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def uv_lock(torch: str, vision: str, index: str) -> None:
    package = '\n[[package]]\nname = "{}"\nversion = "{}"\nsource = {{ registry = "{}" }}\n'
    text = 'version = 1\nrequires-python = ">=3.11"\n'
    text += package.format("torch", torch, index) + package.format("torchvision", vision, index)
    Path("uv.lock").write_text(text)


def ask(capsys: Output, name: str, target: str, *more: str) -> tuple[int, dict[str, Any]]:
    code = run(["plan", "--from", name, "--target", target, "--json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_pins_that_run(capsys: Output) -> None:
    uv_lock("2.5.1+cu121", "0.20.1+cu121", f"{WHL}/cu121")
    code, answer = ask(capsys, "uv.lock", RTX_4090)
    assert (code, answer["status"], answer["variant"], answer["nearest"]) == (0, "solved", "cu121", None)
    assert answer["fits"][0]["verdict"] == "compatible"
    assert answer["from"] == {
        "file": "uv.lock",
        "tool": "uv",
        "pins": [{"name": "torch", "versions": "==2.5.1+cu121"}, {"name": "torchvision", "versions": "==0.20.1+cu121"}],
        "runs": True,
    }


def test_pins_that_do_not_run_and_the_nearest_set_that_does(capsys: Output) -> None:
    uv_lock("2.5.1+cu121", "0.20.1+cu121", f"{WHL}/cu121")
    code, answer = ask(capsys, "uv.lock", RTX_5070)
    assert (code, answer["status"]) == (1, "no-solution")
    assert (answer["rejected"][0]["variant"], answer["rejected"][0]["code"]) == ("cu121", "no-kernels")
    versions = {p["name"]: p["version"] for p in answer["nearest"]["packages"]}
    assert versions == {"torch": "2.7.1+cu128", "torchvision": "0.22.1+cu128"}  # the first with kernels, not the newest


def test_the_same_torch_from_another_variant_is_nearest(capsys: Output) -> None:
    uv_lock("2.9.1+cu130", "0.24.1+cu130", f"{WHL}/cu130")
    code, answer = ask(capsys, "uv.lock", RTX_4090)
    assert (code, answer["rejected"][0]["code"]) == (1, "driver-too-old")
    assert answer["nearest"]["packages"][0]["version"].startswith("2.9.1+cu12")


def test_the_plain_wheels_of_the_default_index(capsys: Output) -> None:
    uv_lock("2.5.1", "0.20.1", "https://index.example/simple")
    code, answer = ask(capsys, "uv.lock", RTX_4090)
    assert (code, answer["variant"], answer["index_url"]) == (0, "cu124", None)
    windows = RTX_4090.replace("linux", "windows").replace("550.54.14", "572.16")
    code, answer = ask(capsys, "uv.lock", windows)
    assert (code, answer["rejected"][0]["code"]) == (1, "wrong-accelerator")
    assert answer["nearest"]["packages"][0]["version"].startswith("2.5.1+cu")


def test_a_conda_environment_is_judged_by_its_cuda(capsys: Output) -> None:
    Path("environment.yml").write_text("dependencies:\n  - python=3.11\n  - pytorch=2.1\n  - pytorch-cuda=12.1\n")
    target = RTX_4090.replace("python=3.12,", "")
    code, answer = ask(capsys, "environment.yml", target)
    assert (code, answer["variant"], answer["python"]) == (0, "cu121", "3.11")
    assert "conda-build" in {note["code"] for note in answer["notes"]}


def test_numpy_2_beside_an_old_torch(capsys: Output) -> None:
    Path("requirements.txt").write_text(f"--index-url {WHL}/cu121\ntorch==2.1.2\nnumpy==2.1.0\n")
    code, answer = ask(capsys, "requirements.txt", RTX_4090.replace("3.12", "3.11"))
    assert code == 1
    torch = answer["nearest"]["packages"][0]["version"]
    assert tuple(int(part) for part in torch.split("+")[0].split(".")[:2]) >= (2, 3)


def test_envsolves_own_locks_can_be_asked_about_too(capsys: Output) -> None:
    Path("requirements.txt").write_text(
        f"torch @ {WHL}/cu128/torch-2.11.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl#sha256={'0' * 64}\n"
    )
    assert ask(capsys, "requirements.txt", RTX_5070)[0] == 0
    assert ask(capsys, "requirements.txt", RTX_5070.replace("RTX 5070 Ti", "GTX 1080 Ti"))[0] == 1


def test_the_text(capsys: Output) -> None:
    uv_lock("2.5.1+cu121", "0.20.1+cu121", f"{WHL}/cu121")
    assert run(["plan", "--from", "uv.lock", "--target", RTX_5070]) == 1
    text = capsys.readouterr().out
    assert text.startswith(
        "uv.lock (uv) pins torch 2.5.1+cu121, torchvision 0.20.1+cu121\nthese pins don't run here:\nno build runs: "
    )
    assert "\n\nthe nearest set that runs:\ntorch 2.7.1+cu128 torchvision 0.22.1+cu128\n" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "absent.lock"], "can't read absent.lock: No such file"),
        (["--from", "uv.lock", "torch"], "--from FILE says what is pinned"),
        (["--from", "six.txt"], "six.txt pins no torch"),
    ],
)
def test_wrong_usage(capsys: Output, words: list[str], message: str) -> None:
    uv_lock("2.5.1", "0.20.1", "https://index.example/simple")
    Path("six.txt").write_text("six==1\n")
    assert run(["plan", *words, "--target", RTX_4090, "--json"]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert json.loads(shown.out)["status"] == "error"


def test_a_python_that_the_lock_does_not_take(capsys: Output) -> None:
    uv_lock("2.5.1+cu121", "0.20.1+cu121", f"{WHL}/cu121")
    assert run(["plan", "--from", "uv.lock", "--target", RTX_4090, "--python", "3.10"]) == 2
    assert "uv.lock: requires-python asks for python >=3.11, and this is for 3.10" in capsys.readouterr().err
