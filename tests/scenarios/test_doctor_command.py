"""`envsolve doctor`: a pasted text and a live environment, as somebody meets them."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

import pytest

from envsolve.cli.app import run

NO_KERNELS = """\
>>> torch.__version__
'2.5.1+cu121'
>>> torch.ones(2).cuda()
RuntimeError: CUDA error: no kernel image is available for execution on the device
RTX 5090 on Ubuntu 24.04, driver 570.86.16
"""
HEALTHY = """\
Linux, RTX 3080, driver 550.54.14
>>> torch.__version__, torch.cuda.is_available()
('2.5.1+cu121', True)
"""


def report(tmp_path: Path, text: str, encoding: str = "utf-8") -> str:
    file = tmp_path / "report.txt"
    file.write_bytes(text.encode(encoding))
    return str(file)


def test_an_ill_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--report", report(tmp_path, NO_KERNELS), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["status"], answer["finding"]) == (1, "ill", "no-kernels")
    assert answer["evidence"] and answer["fixes"][0]["commands"]
    assert answer["missing"] == []


def test_a_healthy_report_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--report", report(tmp_path, HEALTHY)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ok: ")
    assert "way out" not in out


def test_an_unknown_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--report", report(tmp_path, "CUDA does not work"), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "unknown"
    assert {m["field"] for m in answer["missing"]} >= {"torch", "gpu", "driver"}


def test_a_file_that_powershell_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--report", report(tmp_path, NO_KERNELS, "utf-16"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["finding"] == "no-kernels"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "missing.txt"], "can't read missing.txt"),
        (["--report", "x", "--name", "y"], "no environment goes with it"),
        (["--timeout", "0"], "not a time"),
        ([], "none is active"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["doctor", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--path", "nowhere"], ["--report", "nowhere.txt"], ["--name", "nobody"]])
def test_an_error_is_told_to_programs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", *arguments, "--json"]) == 2
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert answer["status"] == "error" and answer["error"] in said.err


def test_an_empty_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--report", report(tmp_path, " \n")]) == 2
    assert "is empty" in capsys.readouterr().err


def test_a_live_environment_whose_torch_cannot_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "env"
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    site = next(folder.rglob("site-packages"))
    info = site / "torch-2.1.0+cpu.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.1.0+cpu\n", encoding="utf-8")
    (site / "torch").mkdir()
    (site / "torch" / "version.py").write_text("__version__ = '2.1.0+cpu'\ncuda = None\nhip = None\n", encoding="utf-8")
    broken = "raise RuntimeError('Numpy is not available')\n"
    (site / "torch" / "__init__.py").write_text(broken, encoding="utf-8")
    assert run(["doctor", "--path", str(folder), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["finding"] == "numpy-below-2"
    assert any("2.1.0+cpu" in line for line in answer["evidence"])
