"""The table of wheels that were seen: small, keyed by path, honest about what is not known."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envsolve.errors import OutsideError
from envsolve.rulebook.load import rules_dir
from envsolve.rulebook.wheels import FILE, SeenWheel, load_wheels, pack, unpack

TOOL = Path(__file__).resolve().parents[3] / "tools/compile_wheels.py"
HASH = st.none() | st.binary(min_size=32, max_size=32).map(bytes.hex)


def wheels() -> st.SearchStrategy[SeenWheel]:
    return st.builds(
        SeenWheel,
        path=st.from_regex(r"((cu\d{2,3}|cpu)/)?torch-\d\.\d(\+cu\d{3})?-cp3\d-cp3\d-win_amd64\.whl", fullmatch=True),
        sha256=HASH,
        metadata_sha256=HASH,
        upload_time=st.sampled_from(["", "2026-05-01T10:00:00Z"]),
        inferred=st.booleans(),
    )


@settings(deadline=None)
@given(st.lists(wheels(), unique_by=lambda wheel: wheel.path))
def test_packing_and_unpacking_keeps_everything(rows: list[SeenWheel]) -> None:
    table = unpack(pack(rows, "source: a test\nof two lines"))
    assert {row.path: row for row in table.of("torch")} == {row.path: row for row in rows}
    assert all(table.at(row.path) == row for row in rows)
    assert pack(reversed(rows), "x") == pack(rows, "x")


def test_the_committed_table() -> None:
    table = load_wheels()
    assert (rules_dir() / FILE).stat().st_size < 2_000_000
    assert len(table.lines) > 8_000
    wheel = table.at("cu128/torch-2.10.0+cu128-cp310-cp310-manylinux_2_28_x86_64.whl")
    assert wheel is not None and wheel.sha256 is not None and wheel.metadata_sha256 is not None
    assert wheel.folder == "cu128"
    assert wheel.filename.startswith("torch-2.10.0+cu128")
    assert table.at("cu128/torch-99.0-cp310-cp310-win_amd64.whl") is None
    assert {w.folder for w in table.of("pytorch_triton_rocm")} <= {"", "rocm6.0"} | {
        w.folder for w in table.of("torch")
    }


def test_names_are_not_unique_but_paths_are() -> None:
    table = load_wheels()
    name = "torch-2.6.0+cu124-cp311-cp311-linux_x86_64.whl"
    full, plain = (table.at(f"{folder}/{name}") for folder in ("cu124_full", "cu124"))
    assert full is not None and plain is not None
    assert full.sha256 != plain.sha256


def test_a_hash_on_which_sources_disagree_is_not_given() -> None:
    wheel = load_wheels().at("cu118/torch-2.1.0+cu118-cp311-cp311-linux_x86_64.whl")
    assert wheel is not None and wheel.sha256 is None


def test_the_root_is_on_every_page() -> None:
    page = load_wheels().on_page("cu128", "torch")
    assert {wheel.folder for wheel in page} == {"cu128", ""}
    assert len({wheel.path for wheel in page}) == len(page)
    assert {wheel.folder for wheel in load_wheels().on_page("", "triton")} == {""}


def test_a_table_that_is_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="table of wheels"):
        load_wheels(tmp_path)
    (tmp_path / "torch").mkdir()
    (tmp_path / FILE).write_bytes(b"not xz")
    with pytest.raises(OutsideError, match="table of wheels"):
        load_wheels(tmp_path)


def test_the_tool_prefers_what_was_seen_and_drops_disputed_hashes() -> None:
    base = "https://download.pytorch.org/whl/"
    lines = [
        {"url": base + "cu128/torch-9%2Bcu128-x.whl", "sha256": "aa", "metadata_sha256": "bb"},
        {"url_inferred": base + "cu128/torch-9%2Bcu128-x.whl", "sha256": "cc"},
        {"url": base + "cpu/torch-9-x.whl", "sha256": "dd", "conflicting_sha256": {"dd": [], "ee": []}},
        {"filename": "torch-9-y.whl", "sha256": "ff"},
    ]
    read = runpy.run_path(str(TOOL))["read_seen"](json.dumps(line) for line in lines)
    found = {wheel.path: wheel for wheel in read}
    assert found["cu128/torch-9+cu128-x.whl"].sha256 == "aa"
    assert not found["cu128/torch-9+cu128-x.whl"].inferred
    assert found["cpu/torch-9-x.whl"].sha256 is None
    assert len(found) == 2
