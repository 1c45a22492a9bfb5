"""What verification costs beside the import of torch that nobody can spare.

    python benchmarks/verify.py ENVIRONMENT [--rounds 5]

ENVIRONMENT is the folder of an environment with a CPU build of torch. In turns: `python -c "import torch"` in it, and
`envsolve verify --path` of it, whose one child process imports torch and computes. Medians, their ratio, and the
difference, which should stay below 1.5 s. (The child ends without taking torch down, which `python -c` does: a tenth of
a second or two that verification saves.)
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from envsolve.environment.create import interpreter_of


def seconds(command: Sequence[str], env: dict[str, str]) -> float:
    """The wall time of a command; one that fails ends the benchmark."""
    began = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    taken = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return taken


def measure(environment: Path, rounds: int, bytecode: Path) -> None:
    """Print the figures."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # An installed envsolve is compiled; a checkout may be on a disk that isn't to be written to.
    ours = {**plain, "PYTHONPYCACHEPREFIX": str(bytecode)}
    torch, whole = [], []
    for number in range(rounds + 1):
        imported = seconds([str(interpreter_of(environment)), "-c", "import torch"], plain)
        verified = seconds([sys.executable, "-m", "envsolve", "verify", "--path", str(environment)], ours)
        if number:  # the first round warms the caches
            torch.append(imported)
            whole.append(verified)
    alone, ended = statistics.median(torch), statistics.median(whole)
    print(f'python -c "import torch"  {alone:6.2f} s')
    print(f"envsolve verify           {ended:6.2f} s   ratio {ended / alone:.2f}")
    print(f"verify's own overhead     {ended - alone:6.2f} s   (aim: below 1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("environment", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as bytecode:
        measure(asked.environment.absolute(), asked.rounds, Path(bytecode))


if __name__ == "__main__":
    main()
