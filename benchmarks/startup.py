"""Start-up: `envsolve --help` and an offline plan of the trio, beside `python -c pass` and `uv pip compile --offline`.

    python benchmarks/startup.py [ROUNDS]

All commands take turns in one run, so that the ratios hold on a noisy machine; medians of the rounds are shown. The
trio that uv compiles is three stub wheels in a folder: uv does no more than to start, read three files and solve.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fakes.stub_wheels import stub_family

TARGET = "RTX 4090,driver=550.54.14,python=3.11,os=linux,arch=x86_64"
ENVSOLVE = [sys.executable, "-m", "envsolve"]


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands by the name that the table shows."""
    found = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "envsolve --help": [*ENVSOLVE, "--help"],
        "envsolve plan": [*ENVSOLVE, "plan", "--target", TARGET],
    }
    if uv := shutil.which("uv"):
        for wheel in stub_family("cpu", tag="py3-none-any", torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0"):
            (folder / wheel.filename).write_bytes(wheel.content)
        (folder / "trio.in").write_text("torch\ntorchvision\ntorchaudio\n")
        found["uv pip compile --offline"] = [
            uv, "pip", "compile", "-q", "--offline", "--no-index", "--find-links", str(folder), str(folder / "trio.in"),
        ]  # fmt: skip
    return found


def seconds(command: list[str]) -> float:
    """The wall time of one run; a command that fails stops the benchmark."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    return time.perf_counter() - start


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = commands(Path(folder))
        for command in table.values():
            seconds(command)
        times: dict[str, list[float]] = {name: [] for name in table}
        for _ in range(rounds):
            for name, command in table.items():
                times[name].append(seconds(command))
    base = statistics.median(times["python -c pass"])
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:<26} {middle * 1000:7.1f} ms   {middle / base:5.1f} x python -c pass")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
