"""Plans a second through the Python API, over the cases of tests/fixtures/plan_cases.jsonl in one process.

    python benchmarks/plans.py [--cases FILE.jsonl] [--rounds 5]

A case has `profile`, `requirements` and `options`. Shown are the first plan of the process, then the medians of the
rounds: all cases, those that are solved, and those that are not, whose explanation and ways out take most of the time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from envsolve.machine.machine import Machine
from envsolve.machine.profile import parse_profile
from envsolve.resolve.plan import Answer, Plan
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load
from envsolve.rulebook.rulebook import Rulebook

CASES = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "plan_cases.jsonl"
TRIO = tuple(map(Requirement, ("torch", "torchvision", "torchaudio")))
HOST = Machine(os="linux", arch="x86_64", python="3.11")

Asked = tuple[Machine, Request]


def read_cases(path: Path) -> list[Asked]:
    """The machines and requests of a file of cases."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_asked(json.loads(line)) for line in lines if line.strip()]


def _asked(case: dict[str, Any]) -> Asked:
    options = case.get("options") or {}
    requirements = tuple(map(Requirement, case["requirements"]))
    request = Request(
        requirements=requirements, variant=options.get("variant"), gpus=options.get("gpus") or "all", target="m.json"
    )
    return parse_profile(json.dumps(case["profile"]), host=HOST), request


def timed(cases: Sequence[Asked], rulebook: Rulebook) -> tuple[float, list[Answer]]:
    """Seconds for planning them all, and the answers."""
    start = time.perf_counter()
    answers = [plan(machine, request, rulebook) for machine, request in cases]
    return time.perf_counter() - start, answers


def first_plan() -> tuple[float, float]:
    """Milliseconds of a process's first work: loading the rules, and planning the trio for one machine."""
    machine = parse_profile(
        '{"schema": 1, "os": "linux", "arch": "x86_64", "python": "3.11", "driver": "550.54.14", "vendor": "nvidia",'
        ' "gpus": [{"name": "NVIDIA GeForce RTX 4090", "compute_capability": "8.9"}]}'
    )
    start = time.perf_counter()
    rulebook = load()
    loaded = time.perf_counter()
    plan(machine, Request(requirements=TRIO), rulebook)
    return 1000 * (loaded - start), 1000 * (time.perf_counter() - loaded)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(words)
    loading, planning = first_plan()
    print(f"first in the process: {loading:.1f} ms to load the rules, {planning:.1f} ms to plan the trio")
    rulebook, cases = load(), read_cases(given.cases)
    _, answers = timed(cases, rulebook)
    solved = [case for case, answer in zip(cases, answers, strict=True) if isinstance(answer, Plan)]
    others = [case for case, answer in zip(cases, answers, strict=True) if not isinstance(answer, Plan)]
    for name, some in (("all cases", cases), ("solved", solved), ("no plan or a question", others)):
        taken = statistics.median(timed(some, rulebook)[0] for _ in range(given.rounds))
        each = taken / len(some)
        print(f"{name:<22} {len(some):>4} cases  {1 / each:7.0f} plans/s  {1000 * each:6.2f} ms each")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
