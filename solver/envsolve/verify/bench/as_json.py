"""A benchmark as JSON values, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from envsolve.errors import InputError
from envsolve.verify.bench.measured import Benchmark, Measured, NotMeasured

SCHEMA = 1


def bench_json(bench: Benchmark) -> dict[str, Any]:
    """The benchmark of schema 1: the median of each quantity, its spread and its runs."""
    return {
        "schema": SCHEMA,
        "environment": bench.environment,
        "python": bench.python,
        "torch": bench.torch,
        "devices": dict(bench.devices),
        "measured": [_row(one) for one in bench.measured],
        "not_measured": [{"device": n.device, "name": n.name, "reason": n.reason} for n in bench.not_measured],
    }


def _row(one: Measured) -> dict[str, Any]:
    return {
        "device": one.device,
        "name": one.name,
        "unit": one.unit,
        "median": one.median,
        "spread": one.spread,
        "values": list(one.values),
    }


def read_bench(file: Path) -> Benchmark:
    """The benchmark in a file that `envsolve verify --bench --json` wrote. Raises InputError for anything else."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        return _bench(value.get("bench", value))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {file}: {error}", hint=_hint(file)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} holds no benchmark of envsolve", hint=_hint(file)) from error


def _hint(file: Path) -> str:
    return f"in the other environment: envsolve verify --bench --json > {file.name}"


def _bench(value: dict[str, Any]) -> Benchmark:
    if value["schema"] != SCHEMA:
        raise ValueError(f"schema {value['schema']}")
    return Benchmark(
        environment=str(value["environment"]),
        python=str(value["python"]),
        torch=str(value["torch"]),
        devices={str(k): str(v) for k, v in value["devices"].items()},
        measured=tuple(
            Measured(device=r["device"], name=r["name"], unit=r["unit"], values=tuple(map(float, _runs(r["values"]))))
            for r in value["measured"]
        ),
        not_measured=tuple(NotMeasured(**n) for n in value["not_measured"]),
    )


def _runs(values: list[float]) -> list[float]:
    if not values or min(values) <= 0:
        raise ValueError("a run without a positive value")
    return values
