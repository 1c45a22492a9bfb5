"""Every form of pasted output: real reports reworded (reports.jsonl) and forms written after the tools (made.jsonl)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envsolve.errors import InputError
from envsolve.machine.machine import Machine
from envsolve.machine.target import read_target
from envsolve.machine.text import parse_text, read_text, tidy

SMI = Path(__file__).parents[2] / "fixtures" / "smi"
HOST = Machine(os="macos", arch="arm64", python="3.12")  # unlike all fixtures: what is taken from it shows


def rows(name: str) -> list[Any]:
    lines = (SMI / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(row["file"], row["expect"], id=row["file"]) for row in map(json.loads, lines)]


@pytest.mark.parametrize(("file", "expect"), rows("made.jsonl"))
def test_every_form_gives_exactly_what_it_says(file: str, expect: dict[str, Any]) -> None:
    machine = read_target(str(SMI / file), host=HOST)
    told = {
        "driver": machine.driver and str(machine.driver),
        "cuda_max": machine.cuda_max and str(machine.cuda_max),
        "gpus": [[g.name, g.compute_capability and str(g.compute_capability)] for g in machine.gpus],
        "problems": [p.code for p in machine.problems],
        "mig": [g.mig for g in machine.gpus],
        "memory": [g.memory_bytes for g in machine.gpus],
        "gfx": [g.gfx for g in machine.gpus],
        **{name: getattr(machine, name) for name in ("os", "arch", "python", "wsl", "tegra", "vendor")},
    }
    assert {name: told[name] for name in expect} == expect


@pytest.mark.parametrize(("file", "expect"), rows("reports.jsonl"))
def test_users_reports(file: str, expect: dict[str, Any]) -> None:
    machine = read_target(str(SMI / file), host=HOST)
    assert (machine.driver and str(machine.driver)) == expect["driver"]
    if "cuda_max" in expect:
        assert (machine.cuda_max and str(machine.cuda_max)) == expect["cuda_max"]
    if "gpus" not in expect:
        return
    assert len(machine.gpus) == len(expect["gpus"])
    for gpu, wanted in zip(machine.gpus, expect["gpus"], strict=True):
        lost = wanted.get("name_cut") == "ERR!"
        assert gpu.name == (None if lost else wanted["name"] or wanted.get("name_cut"))
        assert gpu.truncated == ("name_cut" in wanted and not lost)
        assert (gpu.compute_capability and str(gpu.compute_capability)) == wanted["cc"]


def test_only_os_arch_and_python_come_from_this_machine() -> None:
    machine = read_target(str(SMI / "d01_L_mig.txt"), host=HOST)
    assert machine.assumed == ("os", "arch", "python")
    assert (machine.os, machine.arch, machine.python) == ("macos", "arm64", "3.12")
    assert machine.driver is machine.cuda_max is machine.libc is None


def test_a_table_tells_the_system_and_the_rest_is_assumed() -> None:
    machine = read_target(str(SMI / "05_r581_windows_wddm_5070ti.txt"), host=HOST)
    assert (machine.os, machine.assumed) == ("windows", ("arch", "python"))
    linux = read_target(str(SMI / "a01_r375_k80_two_dies.txt"), host=HOST)
    assert (linux.os, linux.arch) == ("linux", "aarch64")


def test_memory_and_index_are_read_from_the_rows() -> None:
    gpus = read_target(str(SMI / "a03_r550_four_kinds.txt"), host=HOST).gpus
    assert [g.index for g in gpus] == [0, 1, 2, 10]
    assert [g.memory_bytes // 2**20 for g in gpus if g.memory_bytes] == [11264, 49140, 49152, 81559]


def test_two_machines_in_one_text_are_said_to_disagree() -> None:
    text = (SMI / "03_r331_no_cuda_field.txt").read_text() + (SMI / "20_dgx_spark_gb10.txt").read_text()
    machine = read_target(text, host=HOST)
    assert {p.code for p in machine.problems} == {"sources-disagree"}
    assert any("331.62" in p.text and "580.95.05" in p.text for p in machine.problems)


def test_the_same_table_twice_is_one_machine() -> None:
    table = (SMI / "a01_r375_k80_two_dies.txt").read_text()
    machine = read_target(table + table, host=HOST)
    assert len(machine.gpus) == 2
    assert machine.problems == ()


def test_what_torch_was_built_with_is_never_the_drivers_cuda() -> None:
    readings = parse_text((SMI / "53_collect_env_h200.txt").read_text())
    assert [r.cuda_max for r in readings] == [None]


@pytest.mark.parametrize(
    "prose",
    [
        "NVIDIA GPU in my laptop, what now?",
        "I have two NVIDIA cards, 24 GB each",
        "nvidia-smi works fine",
        "GPU 0: it is hot",
        "name\nof the rose",
        "The CUDA version: 12.1",
        "driver 550 or newer, 12.4, yes",
    ],
)
def test_prose_names_no_gpu_and_no_driver(prose: str) -> None:
    assert [r for r in parse_text(tidy(prose)) if r.gpus or r.driver or r.cuda_max] == []


def test_a_text_about_something_else_is_an_error() -> None:
    with pytest.raises(InputError, match=r"shopping\.txt: neither a profile nor any output"):
        read_text("milk, eggs, bread\n", where="shopping.txt")


def test_a_failed_call_beside_a_good_one_keeps_both() -> None:
    text = "Failed to initialize NVML: Unknown Error\n\nOn the host:\n" + (SMI / "50_r580_h200_table.txt").read_text()
    machine = read_target(text, host=HOST)
    assert [p.code for p in machine.problems] == ["gpu-hidden"]
    assert machine.gpus[0].name == "NVIDIA H200"
