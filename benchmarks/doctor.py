"""The doctor on broken environments, beside `python -c pass`: what it costs where torch can't even be imported.

    python benchmarks/doctor.py [ROUNDS] [--environment DIR ...]

In turns, in one run: the bare interpreter, `envsolve doctor --path` of environments that this makes of a stub torch (a
library gone from twelve thousand files; the Python itself gone; torchvision of another torch), `doctor --report` of a
traceback, and of each DIR. Medians, their ratios, peaks of memory. Aim: below 1 s; a DIR whose torch can be imported
takes that import more.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from runs import take_turns

from fakes.stub_torch import stub_environment

FILES = 12_000  # as many as torch 2.13 has
TRACEBACK = """\
RuntimeError: CUDA error: no kernel image is available for execution on the device
RTX 5090, driver 570.86.16, torch 2.5.1+cu121
"""


@dataclass(frozen=True)
class Job:
    """A command that takes its turn; an ill environment ends it with 1."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    empty: Sequence[Path] = ()
    ends: Sequence[int] = (0, 1)


def jobs(folder: Path, environments: Sequence[Path]) -> Iterator[Job]:
    """The bare interpreter first, then every environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # An installed envsolve is compiled; a checkout may be on a disk that isn't to be written to.
    ours = {**env, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    doctor = [sys.executable, "-m", "envsolve", "doctor"]
    yield Job(name="python -c pass", command=[sys.executable, "-c", "pass"], env=env)
    for path in (lost_library(folder), lost_python(folder), mismatch(folder), *environments):
        yield Job(name=f"doctor: {path.name}", command=[*doctor, "--path", str(path.absolute())], env=ours)
    report = folder / "report.txt"
    report.write_text(TRACEBACK, encoding="utf-8")
    yield Job(name="doctor --report", command=[*doctor, "--report", str(report)], env=ours)


def lost_library(folder: Path) -> Path:
    """A torch of many files whose library is gone."""
    env = stub_environment(folder / "library gone", more="import ctypes; ctypes.CDLL('libtorch_cpu.so')\n")
    many = {f"torch/include/part{number}.h": "" for number in range(FILES)}
    text = (env.site / "torch" / "__init__.py").read_text(encoding="utf-8")
    env.add("torch", "2.11.0+cpu", {**many, "torch/__init__.py": text, "torch/lib/libtorch_cpu.so": "code"})
    (env.site / "torch" / "lib" / "libtorch_cpu.so").unlink()
    return env.path


def lost_python(folder: Path) -> Path:
    env = stub_environment(folder / "Python gone")
    env.interpreter.unlink()
    env.interpreter.symlink_to("/nowhere/bin/python3")
    return env.path


def mismatch(folder: Path) -> Path:
    env = stub_environment(folder / "other torchvision")
    env.add("torchvision", "0.20.1+cpu", {"torchvision/__init__.py": "import torch\n"})
    return env.path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("rounds", type=int, nargs="?", default=7)
    parser.add_argument("--environment", type=Path, action="append", default=[])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = list(jobs(Path(folder), asked.environment))
        take_turns(table, 1, title="caches are cold", base="python -c pass")
        take_turns(table, asked.rounds, title="doctor", base="python -c pass")


if __name__ == "__main__":
    main()
