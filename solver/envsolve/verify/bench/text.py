"""A benchmark as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envsolve.verify.bench.measured import Benchmark, Measured


def bench_lines(bench: Benchmark, other: Benchmark | None = None) -> list[str]:
    """One table a device; with `other`, its medians and how many times faster this environment is."""
    lines = [f"this: {bench.environment}, torch {bench.torch}"]
    if other:
        lines.append(f"other: {other.environment}, torch {other.torch}")
    for device, model in bench.devices.items():
        lines += ["", f"{device}  {model}", *_table(list(_rows(bench, other, device)))]
        lines += [f"  {n.name}: not measured, {n.reason}" for n in bench.not_measured if n.device == device]
    return lines


def _rows(bench: Benchmark, other: Benchmark | None, device: str) -> Iterator[tuple[str, ...]]:
    yield ("", "median", "unit", "+-", *(("other", "times faster") if other else ()))
    for one in bench.measured:
        if one.device == device:
            yield (
                one.name,
                number(one.median),
                one.unit,
                f"{one.spread:.0%}",
                *(_compared(one, other) if other else ()),
            )


def _compared(one: Measured, other: Benchmark) -> tuple[str, str]:
    there = other.like(one)
    return (number(there.median), f"{one.times_faster_than(there):.2f}x") if there else ("-", "-")


def number(value: float) -> str:
    """Three digits that count, without an exponent: 0.123, 12.3, 1,234."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{row[0]:<{widths[0]}}"]
        cells += [
            f"{cell:<{width}}" if at == 2 else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            if at
        ]
        yield "  " + "  ".join(cells).rstrip()
