"""A benchmark as a bar chart in SVG, for reports; drawn here, since a plot library is larger than envsolve."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from envsolve.verify.bench.measured import Benchmark, Measured
from envsolve.verify.bench.text import number

_WIDTH, _LEFT, _RIGHT = 900, 270, 150
_BAR, _GAP, _HEAD = 16, 8, 34
_COLORS = ("#2a6f97", "#f4a259")
_TITLES = {
    "TFLOP/s": "Matrix products",
    "GB/s": "Copies",
    "images/s": "ResNet-50",
    "ms": "First kernel (less is better)",
}


def bench_svg(bench: Benchmark, other: Benchmark | None = None) -> str:
    """The chart: a group a device and unit, bars to the scale of the group; with `other`, two bars each."""
    body: list[str] = []
    at = _HEAD
    for label, color in zip(_labels(bench, other), _COLORS, strict=False):
        body += [_bar(20, at - 12, 12, color), _text(40, at, label, size=14)]
        at += 22
    for title, rows in _groups(bench):
        at += _HEAD
        body.append(_text(20, at - 10, title, size=15, weight="bold"))
        for lines, height in _group(rows, other, at):
            body += lines
            at += height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{at + 20}" font-family="sans-serif">'
    back = f'<rect width="{_WIDTH}" height="{at + 20}" fill="#ffffff"/>'
    return "\n".join([head, back, *body, "</svg>"]) + "\n"


def _labels(bench: Benchmark, other: Benchmark | None) -> list[str]:
    return [f"{one.environment}: torch {one.torch}, Python {one.python}" for one in (bench, other) if one]


def _groups(bench: Benchmark) -> Iterator[tuple[str, list[Measured]]]:
    for device, model in bench.devices.items():
        mine = [one for one in bench.measured if one.device == device]
        for unit in dict.fromkeys(one.unit for one in mine):
            title = f"{_TITLES.get(unit, 'Others')}, {unit}, on {device} ({model})"
            yield title, [one for one in mine if one.unit == unit]


def _group(rows: list[Measured], other: Benchmark | None, at: int) -> Iterator[tuple[list[str], int]]:
    pairs = [(one, other.like(one) if other else None) for one in rows]
    scale = max(m.median for pair in pairs for m in pair if m) or 1.0
    for one, there in pairs:
        bars = [one, *([there] if there else [])]
        lines = [_text(_LEFT - 10, at + 13, one.name, anchor="end")]
        for place, (bar, color) in enumerate(zip(bars, _COLORS, strict=False)):
            top = at + place * _BAR
            length = (_WIDTH - _LEFT - _RIGHT) * bar.median / scale
            ratio = f"  ({one.times_faster_than(there):.2f}x)" if there and bar is one else ""
            lines += [_bar(_LEFT, top, length, color), _text(_LEFT + length + 6, top + 12, number(bar.median) + ratio)]
        height = _BAR * len(bars) + _GAP
        yield lines, height
        at += height


def _bar(x: float, y: float, length: float, color: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(length, 1):.1f}" height="{_BAR - 3}" fill="{color}"/>'


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start", weight: str = "normal") -> str:
    look = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'
