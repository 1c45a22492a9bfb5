"""A benchmark as numbers, table, JSON and chart."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.verify.bench.as_json import bench_json, read_bench
from envsolve.verify.bench.measured import Benchmark, Measured, NotMeasured, measured_from
from envsolve.verify.bench.run import _merged
from envsolve.verify.bench.svg import bench_svg
from envsolve.verify.bench.text import bench_lines, number

MATMUL = Measured(device="cuda:0", name="matmul fp16", unit="TFLOP/s", values=(700.0, 790.0, 800.0))
FIRST = Measured(device="cuda:0", name="first kernel", unit="ms", values=(250.0,))
BENCH = Benchmark(
    environment="new",
    python="3.12.4",
    torch="2.11.0+cu130",
    devices={"cuda:0": "NVIDIA H200"},
    measured=(FIRST, MATMUL),
    not_measured=(NotMeasured(device="cuda:0", name="matmul fp8", reason="needs compute capability 8.9"),),
)
SLOWER = replace(
    BENCH, environment="<old & slow>", measured=(replace(FIRST, values=(500.0,)), replace(MATMUL, values=(395.0,)))
)


def test_a_row_is_its_median_and_its_spread() -> None:
    assert MATMUL.median == 790
    assert MATMUL.spread == pytest.approx(90 / 790)


def test_faster_is_above_one_whether_more_or_less_is_better() -> None:
    there = SLOWER.like(MATMUL), SLOWER.like(FIRST)
    assert there[0] and MATMUL.times_faster_than(there[0]) == 2
    assert there[1] and FIRST.times_faster_than(there[1]) == 2
    assert SLOWER.like(replace(MATMUL, device="cuda:1")) is None


def test_the_table_of_two_environments() -> None:
    assert bench_lines(BENCH, SLOWER) == [
        "this: new, torch 2.11.0+cu130",
        "other: <old & slow>, torch 2.11.0+cu130",
        "",
        "cuda:0  NVIDIA H200",
        "                median  unit      +-  other  times faster",
        "  first kernel     250  ms        0%    500         2.00x",
        "  matmul fp16      790  TFLOP/s  11%    395         2.00x",
        "  matmul fp8: not measured, needs compute capability 8.9",
    ]


def test_a_row_that_the_other_lacks() -> None:
    assert bench_lines(BENCH, replace(SLOWER, measured=()))[-2].endswith("11%      -             -")


@pytest.mark.parametrize(("value", "text"), [(1234.5, "1,234"), (99.94, "99.9"), (0.12345, "0.123"), (4.2, "4.2")])
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_json_and_back(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for value in (bench_json(BENCH), {"schema": 1, "verified": True, "bench": bench_json(BENCH)}):
        file.write_text(json.dumps(value))
        assert read_bench(file) == BENCH


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "3", '{"bench": 1}', '{"schema": 2}', json.dumps({"schema": 1, "verified": True, "checks": []})],
)
def test_a_file_that_is_no_benchmark(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(InputError, match="holds no benchmark"):
        read_bench(file)
    with pytest.raises(InputError, match="can't read"):
        read_bench(tmp_path / "missing.json")


def test_runs_without_a_value_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps(bench_json(BENCH)).replace("250.0]", "0.0]"))
    with pytest.raises(InputError):
        read_bench(file)


def test_rows_of_several_processes_become_one() -> None:
    merged = list(_merged([FIRST, MATMUL, replace(FIRST, values=(260.0,))]))
    assert merged == [replace(FIRST, values=(250.0, 260.0)), MATMUL]


def test_the_answer_of_a_probe() -> None:
    rows, gaps = measured_from(
        "cuda:0",
        {"rows": [{"name": "x", "unit": "ms", "values": [1]}], "skipped": ["batch 128: the GPU's memory is too small"]},
    )
    assert rows == (Measured(device="cuda:0", name="x", unit="ms", values=(1.0,)),)
    assert (gaps[0].name, gaps[0].reason) == ("ResNet-50, batch 128", "the GPU's memory is too small")
    with pytest.raises(ValueError, match="no run"):
        measured_from("cuda:0", {"rows": [{"name": "x", "unit": "ms", "values": []}]})


_NUMBER = st.floats(min_value=1e-3, max_value=1e6)


@given(st.lists(st.tuples(st.sampled_from(["TFLOP/s", "GB/s", "images/s", "ms"]), _NUMBER, _NUMBER), max_size=8))
def test_bars_stay_in_the_picture_and_do_not_overlap(rows: list[tuple[str, float, float]]) -> None:
    here = tuple(Measured(device="cuda:0", name=f"<{n}>", unit=u, values=(a,)) for n, (u, a, _) in enumerate(rows))
    there = tuple(Measured(device="cuda:0", name=f"<{n}>", unit=u, values=(b,)) for n, (u, _, b) in enumerate(rows))
    picture = ET.fromstring(bench_svg(replace(BENCH, measured=here), replace(SLOWER, measured=there)))
    width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
    bars = [{k: float(v) for k, v in bar.items() if k != "fill"} for bar in picture.iter(_tag("rect"))][1:]
    assert len(bars) == 2 + 2 * len(rows)
    tops = [bar["y"] for bar in bars]
    assert all(after - before >= bars[0]["height"] for before, after in pairwise(tops))
    assert all(bar["x"] + bar["width"] <= width and bar["y"] + bar["height"] <= height for bar in bars)


def test_the_chart_names_what_it_shows() -> None:
    text = re.sub(r"<[^>]*>", "\n", bench_svg(BENCH, SLOWER))
    assert "&lt;old &amp; slow&gt;: torch 2.11.0+cu130" in text
    assert "790  (2.00x)" in text
    assert "Matrix products, TFLOP/s, on cuda:0 (NVIDIA H200)" in text


def _tag(name: str) -> str:
    return f"{{http://www.w3.org/2000/svg}}{name}"
