"""`envsolve detect` as people use it: this machine, another one, a profile that travels."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from envsolve.cli.app import run

SMI = Path(__file__).parents[1] / "fixtures" / "smi"


def test_a_pasted_table_becomes_a_profile_that_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = tmp_path / "deep" / "machine.json"
    assert run(["detect", "--target", str(SMI / "05_r581_windows_wddm_5070ti.txt"), "-o", str(profile)]) == 0
    told = capsys.readouterr()
    assert "GPU 0     NVIDIA GeForce RTX 5070 Ti, compute capability 12.0 (by name), 16 GiB" in told.out
    assert "driver    581.57, speaks CUDA 13.0" in told.out
    assert f"--target {profile}" in told.err
    assert [path.name for path in profile.parent.iterdir()] == ["machine.json"]
    assert run(["detect", "--target", str(profile), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(profile.read_text())


def test_json_of_a_failed_call_is_a_profile_with_the_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "--target", str(SMI / "h01_cannot_communicate.txt"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["driver"], told["cuda_max"], told["gpus"], told["vendor"]) == (1, None, None, [], None)
    assert [problem["code"] for problem in told["problems"]] == ["driver-not-loaded"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("GPU 0: Tesla T4 (UUID: GPU-1)\n"))
    assert run(["detect", "--target", "-"]) == 0
    assert "GPU 0     Tesla T4, compute capability 7.5 (by name)" in capsys.readouterr().out


def test_this_machine_with_a_stated_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ENVSOLVE_GPUS", "RTX 4090 + Unheard Of 9000")
    monkeypatch.setenv("ENVSOLVE_DRIVER", "550.54.14")
    assert run(["detect"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "GPU 0     RTX 4090, compute capability 8.9 (by name)"
    assert lines[1] == "GPU 1     Unheard Of 9000, compute capability unknown"
    assert lines[2] == "driver    550.54.14, its CUDA was not reported"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere/smi.txt", "error: there is no file nowhere/smi.txt"),
        ("RTX 4090,driver=new", "error: spec: driver=new is not a driver version such as 550.54.14"),
        (".", "error: . is a folder, not a file"),
    ],
)
def test_a_bad_target_is_bad_input(target: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "--target", target]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(message)
    assert "hint: " in told.err


def test_a_profile_with_a_mistake_names_the_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = tmp_path / "m.json"
    profile.write_text('{"schema": 1, "gpus": [{"name": "T4", "compute_capability": "75"}]}')
    assert run(["detect", "--target", str(profile)]) == 2
    assert "m.json: gpus[0].compute_capability: '75' is not a compute capability" in capsys.readouterr().err


def test_a_profile_that_can_not_be_written_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(["detect", "--target", "RTX 4090", "-o", str(tmp_path / "file" / "m.json")]) == 3
    assert "error: can't write" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
