"""How long an environment with many small packages takes, beside uv alone, and how much memory envsolve itself needs.

    python benchmarks/install.py [--wheels 30] [--rounds 5]

Creates an environment and installs the wheels from a warm cache: `uv venv` and `uv pip sync`, then `envsolve install
--lock`. Medians in seconds; the ratio should stay below 1.5 and envsolve's own peak memory below 150 MB.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from envsolve.lock import requirements_txt
from fakes.index_server import IndexServer
from fakes.stub_locks import stub_lock
from fakes.stub_wheels import StubWheel

# Runs envsolve and prints its own peak memory in KB, its children's left out.
_MEASURED = """
import resource, sys
from envsolve.cli.app import run
code = run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""


def wheels(count: int) -> list[StubWheel]:
    """Small wheels of some ten modules each."""
    return [
        StubWheel(
            name=f"small-{number}", version="1", modules={f"small_{number}/m{k}.py": "X = 1\n" * 200 for k in range(10)}
        )
        for number in range(count)
    ]


def timed(work: Callable[[], str], rounds: int, folder: Path) -> tuple[float, str]:
    """The median of some rounds after one that warms the caches, and what the last one printed.

    `folder` holds what a round makes; it is removed before the next one, and that is not timed.
    """
    said = work()
    seconds = []
    for _ in range(rounds):
        shutil.rmtree(folder)
        began = time.perf_counter()
        said = work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), said


def run(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[:4]} failed: {done.stderr}")
    return done.stdout


def measure(folder: Path, server: IndexServer, count: int, rounds: int) -> None:
    """Print the three figures."""
    uv = shutil.which("uv") or sys.exit("uv is not on PATH")
    made = wheels(count)
    for wheel in made:
        server.add_package(wheel)
    lock = folder / "requirements.lock.txt"
    lock.write_text(requirements_txt.write(stub_lock({}, made)), encoding="utf-8")
    env = {**os.environ, "UV_CACHE_DIR": str(folder / "uv"), "ENVSOLVE_HOME": str(folder / "home")}
    env |= {"ENVSOLVE_CACHE_DIR": str(folder / "cache"), "UV_NO_CONFIG": "1", "UV_INDEX_URL": server.simple}
    venv = folder / "venv"

    def with_uv() -> str:
        run([uv, "venv", "-q", "--python", sys.executable, str(venv)], env)
        return run([uv, "pip", "sync", "-q", "--python", str(venv), "--require-hashes", str(lock)], env)

    install = ["install", "--lock", str(lock), "--name", "bench", "--verify", "later"]
    ours = [sys.executable, "-c", _MEASURED, "-q", *install, "--index", server.simple, "--installer", "uv", "--json"]
    alone, _ = timed(with_uv, rounds, venv)
    whole, said = timed(lambda: run(ours, env), rounds, folder / "home")
    print(f"uv venv + uv pip sync  {alone:6.2f} s")
    print(f"envsolve install       {whole:6.2f} s   ratio {whole / alone:.2f} (aim: below 1.5)")
    peak = int(said.split()[-1]) * (1 if sys.platform == "darwin" else 1024)
    print(f"envsolve's own memory  {peak / 1e6:6.0f} MB  (aim: below 150)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--wheels", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, IndexServer() as server:
        measure(Path(folder), server, asked.wheels, asked.rounds)


if __name__ == "__main__":
    main()
