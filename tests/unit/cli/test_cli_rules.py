"""`envsolve rules show`: the facts behind an answer."""

from __future__ import annotations

import json

import pytest

from envsolve.cli.app import run


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["rules", "show", *arguments]) == 0
    return capsys.readouterr().out


def test_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "rtx 4090")
    first, _, rest = out.partition("\n")
    assert first == "GeForce RTX 4090: compute capability 8.9; nvcc of CUDA 11.8 to 13.5 can target it"
    assert rest.lstrip().startswith("gpus/names.yaml: GeForce RTX 4090\n")
    assert "cuda/architectures.yaml: Ada Lovelace" in rest
    assert "certainty high: NVIDIA CUDA GPU Compute Capability page" in rest


def test_a_build_with_its_sources_and_companions(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "2.9.1+cu128")
    assert "torch/builds.yaml: 2.9.1/cu128/linux_x86_64\n  sm: 70 75 80 86 90 100 120  ptx:" in out
    assert "evidence: wheel" in out
    assert "torch/companion_builds.yaml: torchvision/0.24.1/cu128/windows_amd64" in out
    assert "cu130" not in out.replace("linux_x86_64: cu128", "")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("torch==1.13.1", "torch/builds.yaml: 1.13.1/cu116/linux_x86_64"),
        ("2.2", "torch/builds.yaml: 2.2.2/cu121/windows_amd64"),
        ("2.2.2", "requires: numpy<2"),
        ("cu126", "not_published.yaml: >=2.15/cu126"),
        ("cu126", "cuda/drivers.yaml: floors/12"),
        ("rocm6.4", "torch/other_builds.yaml: 2.9.1/rocm6.4/linux_x86_64"),
        ("580.65.06", "end_of_life: 2028-06"),
        ("R470", "last_branch: 470"),
        ("12.1", "gpus/names.yaml: NVIDIA GB10"),
        ("sm_120", "names.yaml: GeForce RTX 5090"),
        ("Jetson Orin", "tegra/8.7"),
        ("GT 730", "note: GF108, GK107 or GK208"),
        ("gfx906", "rocBLAS of ROCm 6.4.0"),
        ("AMD Radeon PRO W6800", "gfx1030"),
    ],
)
def test_whatever_is_asked(capsys: pytest.CaptureFixture[str], asked: str, expected: str) -> None:
    assert expected in shown(capsys, asked)


def test_the_overview_counts_rows_and_doubts(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys)
    assert "torch 1.7.0 to 2.15.0" in out
    assert "torch/builds.yaml " in out
    assert "of low certainty" in out


def test_low_certainty_alone(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "2.7.1", "--low")
    assert "2.7.1/cu128/windows_amd64" in out
    assert "certainty high" not in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(shown(capsys, "cu118", "--json"))
    assert answer["schema"] == 1
    assert answer["about"] == "the variant cu118"
    fact = next(f for f in answer["facts"] if f["keys"] == ["2.7.1", "cu118", "linux_x86_64"])
    assert fact["certainty"] == "medium"
    assert fact["fields"]["sm"].split()[0] == "37"
    assert fact["source"]


def test_what_the_rules_do_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "show", "RTX 4091"]) == 2
    err = capsys.readouterr().err
    assert "error: the rules say nothing of 'RTX 4091'" in err
    assert "GeForce RTX 4090" in err
    assert run(["rules", "show", "torch==9.9"]) == 2
