"""Runs: commands that take turns, with their wall times, peak memory, and a table of medians and ratios."""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import envsolve


class Timed(Protocol):
    """A command to time; `empty` are files and folders to remove before each run. One whose answer may be no says so by
    `ends`, the exit codes that are right."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    empty: Sequence[Path]


def compile_package() -> None:
    """Compile envsolve, as an installer does: where no bytecode may be written, each run would compile it anew."""
    compileall.compile_dir(Path(envsolve.__file__).parent, quiet=1)


def once(job: Timed) -> tuple[float, int]:
    """Seconds and peak resident bytes of one run; a command that fails stops the benchmark."""
    for path in job.empty:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    # Installed programs have their bytecode, whatever this shell says of it.
    env = {name: value for name, value in job.env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    with subprocess.Popen(job.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env) as child:
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        taken = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in getattr(job, "ends", (0,)):
        raise SystemExit(f"{job.name} failed ({child.returncode}):\n{said.decode()[-2000:]}")
    return taken, usage.ru_maxrss * 1024


def take_turns(jobs: Sequence[Timed], rounds: int, *, title: str, base: str) -> None:
    """Run all jobs by turns and print medians, ratios to the job named `base`, and peaks of memory."""
    runs: dict[str, list[tuple[float, int]]] = {job.name: [] for job in jobs}
    for _ in range(rounds):
        for job in jobs:
            runs[job.name].append(once(job))
    medians = {name: statistics.median(seconds for seconds, _ in some) for name, some in runs.items()}
    print(f"\n{title} ({rounds} rounds)")
    for name, some in runs.items():
        peak = max(size for _, size in some) / 1e6
        print(f"{name:<26} {medians[name] * 1000:8.1f} ms {medians[name] / medians[base]:7.2f} x {peak:6.0f} MB")
