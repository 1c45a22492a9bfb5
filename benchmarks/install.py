"""How long an environment with many small packages takes, beside uv alone, and how much memory envsolve itself needs.

    python benchmarks/install.py [--wheels 30] [--rounds 9]

Creates an environment and installs the wheels from a warm cache: `uv venv` and `uv pip sync`, then `envsolve install
--lock`, in turns. Each makes its environment at a path of its own: uv asks an interpreter that it hasn't seen before
what it is (40 ms), and remembers. envsolve's environments hold a pip, so that `pip install` in them never reaches the
one outside; uv's don't: a second line shows what uv takes with the same pip.

Medians. The ratio of the whole commands should stay below 1.5; envsolve is a Python program, whose interpreter and
command line take their time before there is any work, so the ratio of what comes after that is shown too. envsolve's
own peak memory should stay below 150 MB.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from envsolve.environment.pip_wheel import pip_wheel
from envsolve.environment.pythons import find_python
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
# Of the one who runs this: what would change where packages come from, or how Python starts.
_DROPPED = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "ENVSOLVE_")


def wheels(count: int) -> list[StubWheel]:
    """Small wheels of some ten modules each."""
    return [
        StubWheel(
            name=f"small-{number}", version="1", modules={f"small_{number}/m{k}.py": "X = 1\n" * 200 for k in range(10)}
        )
        for number in range(count)
    ]


def medians(jobs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each job, in turns, after a round that warms the caches."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds + 1):
        for name, job in jobs.items():
            began = time.perf_counter()
            job()
            if number:
                taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def run(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[:4]} failed: {done.stderr}")
    return done.stdout


class Bench:
    """The commands that are compared, each in a fresh place below `folder`."""

    def __init__(self, folder: Path, index: str, made: list[StubWheel]) -> None:
        self.uv = shutil.which("uv") or sys.exit("uv is not on PATH")
        self.index = index
        self.folder = folder
        self.python = find_python(".".join(map(str, sys.version_info[:2])))
        self.lock = folder / "requirements.lock.txt"
        self.lock.write_text(requirements_txt.write(stub_lock({}, made)), encoding="utf-8")
        pip = pip_wheel(self.python)
        assert pip, "no wheel of pip is on this machine"
        self.with_pip = folder / "with-pip.txt"
        self.with_pip.write_text(self.lock.read_text(encoding="utf-8") + f"{pip.requirement}\n", encoding="utf-8")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
        self.env |= {"UV_CACHE_DIR": str(folder / "uv"), "UV_NO_CONFIG": "1", "UV_INDEX_URL": index}
        self.env |= {"PIP_CONFIG_FILE": os.devnull, "XDG_CONFIG_HOME": str(folder / "config")}
        self.env |= {"ENVSOLVE_HOME": str(folder / "home"), "ENVSOLVE_CACHE_DIR": str(folder / "cache")}
        # An installed envsolve is compiled; a checkout may be on a disk that isn't to be written to.
        self.ours = {**self.env, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}

    def with_uv(self, lock: Path) -> None:
        venv = self.folder / secrets.token_hex(4)
        run([self.uv, "venv", "-q", "--python", str(self.python.executable), str(venv)], self.env)
        run([self.uv, "pip", "sync", "-q", "--python", str(venv), "--require-hashes", str(lock)], self.env)

    def install(self, *program: str) -> str:
        name = f"bench-{secrets.token_hex(4)}"
        what = ["install", "--lock", str(self.lock), "--name", name, "--verify", "later", "--index", self.index]
        return run([sys.executable, *program, "-q", *what, "--installer", "uv", "--json"], self.ours)

    def memory(self) -> float:
        """The peak of envsolve's own process, in MB."""
        kilobytes = int(self.install("-c", _MEASURED).split()[-1])
        return kilobytes * (1 if sys.platform == "darwin" else 1024) / 1e6


def measure(bench: Bench, rounds: int) -> None:
    """Print the figures."""
    jobs: dict[str, Callable[[], object]] = {
        "python -c pass": lambda: run([sys.executable, "-c", "pass"], bench.ours),
        "envsolve --version": lambda: run([sys.executable, "-m", "envsolve", "--version"], bench.ours),
        "uv venv + uv pip sync": lambda: bench.with_uv(bench.lock),
        "the same, pip with it": lambda: bench.with_uv(bench.with_pip),
        "envsolve install": lambda: bench.install("-m", "envsolve"),
    }
    found = medians(jobs, rounds)
    for name, seconds in found.items():
        print(f"{name:<24}{seconds * 1000:6.0f} ms")
    nothing, started, alone, equal, ours = found.values()
    print(f"{'envsolve install to uv':<40}{'alone':>8}{'with pip':>10}   (aim: below 1.5)")
    for what, before in (("whole commands", 0.0), ("beyond python's start", nothing), ("beyond --version", started)):
        print(f"  {what:<38}{(ours - before) / alone:8.2f}{(ours - before) / equal:10.2f}")
    print(f"envsolve's own memory {bench.memory():6.0f} MB  (aim: below 150)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--wheels", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, IndexServer() as server:
        made = wheels(asked.wheels)
        for wheel in made:
            server.add_package(wheel)
        measure(Bench(Path(folder), server.simple, made), asked.rounds)


if __name__ == "__main__":
    main()
