"""The main job with a real torch: plan, lock, install and verify on this machine, by the configuration that it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.network]

TORCH = "2.13.0"


@pytest.fixture(scope="session")
def as_found() -> Mapping[str, str]:
    """The variables of this machine, before a test isolates itself from them: pip's configuration leads to torch."""
    return dict(os.environ)


def test_a_real_torch_is_installed_and_proven(as_found: Mapping[str, str], tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    probe = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), f"torch=={TORCH}"]
    found = subprocess.run(probe, env=as_found, capture_output=True, text=True, check=False)
    if not list(wheels.glob("torch-*+cpu-*.whl")):
        pytest.skip(f"pip finds no CPU wheel of torch {TORCH} here: {found.stderr.strip()[-200:]}")
    environ = {
        **as_found,
        "ENVSOLVE_HOME": str(tmp_path / "home"),
        "ENVSOLVE_CACHE_DIR": str(tmp_path / "cache"),
        "ENVSOLVE_FIND_LINKS": str(wheels),
        "ENVSOLVE_GPUS": "none",
    }

    def envsolve(*argv: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "envsolve", *argv]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    made = envsolve("install", "--name", "pytorch_new", f"torch=={TORCH}", "--json")
    assert made.returncode == 0, made.stderr
    said = json.loads(made.stdout)
    assert (said["state"], said["torch"], said["variant"]) == ("verified", f"{TORCH}+cpu", "cpu")

    lock = (Path(said["path"]) / "envsolve-lock.txt").read_text(encoding="utf-8")
    assert "# portable: no, from the disk of the machine that made it: torch" in lock

    ran = envsolve("envs", "run", "pytorch_new", "--", "python", "-c", "import torch; print(torch.ones(2, 2).sum())")
    assert ran.stdout.strip() == "tensor(4.)"

    again = envsolve("verify", "--name", "pytorch_new", "--json")
    assert again.returncode == 0
    report = json.loads(again.stdout)
    assert report["verified"]
    assert {c["outcome"] for c in report["checks"] if c["name"].startswith("compute cpu matmul fp32")} == {"passed"}
