"""The YAML of the rules: what it accepts, and that every mistake is reported at once with its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsolve.errors import InputError
from envsolve.rulebook.fields import Wrong, minors, span, targets
from envsolve.rulebook.schema import Document
from envsolve.rulebook.schema_torch import BUILDS as TABLE
from envsolve.rulebook.source import digest, read_rules
from envsolve.rulebook.yaml_file import RulesError

BUILDS = """
sources:
  wheel: the wheel itself
builds:
  2.9.1:
    cu128:
      linux_x86_64:
        sm: [70, 75, 80, 86, 90, 100, 120]
        ptx: []
        python: 3.10-3.14
        freethreaded: ["3.13", "3.14"]
        glibc_min: 2.28
        certainty: high
        evidence: wheel
        source: [wheel, "pytorch/pytorch#1"]
"""


def write(folder: Path, text: str, file: str = "torch/builds.yaml") -> Path:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return folder


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(RulesError) as raised:
        read_rules(folder, (TABLE,), ())
    return [str(mistake) for mistake in raised.value.mistakes]


def test_a_row_becomes_cells(tmp_path: Path) -> None:
    sources = read_rules(write(tmp_path, BUILDS), (TABLE,), ())
    row = sources.tables["builds"]["2.9.1"]["cu128"]["linux_x86_64"]
    assert row["sm"] == "70 75 80 86 90 100 120"
    assert row["ptx"] == ""
    assert row["python"] == "3.10 3.14"  # text, though YAML would read 3.1
    assert row["glibc_min"] == "2.28"
    assert row["source"] == "the wheel itself; pytorch/pytorch#1"
    assert row["local_tag"] is True


def test_every_mistake_is_reported_at_once_with_its_path(tmp_path: Path) -> None:
    text = (
        BUILDS.replace("86, 90", "86, x90")
        .replace("python: 3.10-3.14", "python: 3.14-3.10")
        .replace("certainty: high", "certainty: sure")
        .replace("evidence: wheel", "evidnce: wheel")
        .replace("[wheel,", "[wheal,")
    )
    row = "torch/builds.yaml: 2.9.1/cu128/linux_x86_64"
    assert mistakes(write(tmp_path, text)) == [
        f"{row}.evidnce: unknown field",
        f"{row}.sm[4]: not a capability times ten such as 86, 120 or 90a: 'x90'",
        f"{row}.python: the range runs backwards: '3.14-3.10'",
        f"{row}.certainty: expected one of high, medium, low, got 'sure'",
        f"{row}.source: no source is named 'wheal' in this file",
        f"{row}.evidence: missing",
        "torch/builds.yaml: sources/wheel: no row uses it",
    ]


def test_the_error_is_bad_input_and_counts(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_rules(write(tmp_path, BUILDS.replace("2.9.1", "2.9.x")), (TABLE,), ())
    assert "1 mistake in the rules" in raised.value.message
    assert "torch/builds.yaml: 2.9.x: torch: not a version: '2.9.x'" in raised.value.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cu128:", "cuda12:", "variant: not a CUDA variant"),
        ("linux_x86_64:", "linux_amd64:", "platform: expected one of linux_x86_64"),
        ("        ptx: []\n", "", ".ptx: missing"),
        ("sm: [70, 75,", "sm: [75, 70,", ".sm: not in ascending order"),
        ("sm: [70, 75,", "sm: [70, 70,", ".sm: not in ascending order, or twice the same"),
        ("glibc_min: 2.28", "glibc_min: [2, 28]", ".glibc_min: expected a text, got [2, 28]"),
        ("builds:\n", "bilds:\n", "unknown section 'bilds'"),
        ("builds:\n", "bilds:\n", "no section 'builds'"),
        ("        ptx: []\n", "        ptx: []\n        ptx: [90]\n", "'ptx' is there twice"),
        ("sources:\n", "sources: [\n", "not YAML"),
    ],
)
def test_kinds_of_mistakes(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = mistakes(write(tmp_path, BUILDS.replace(old, new, 1)))
    assert any(said in mistake for mistake in found), found


def test_documents_need_sources_and_certainties(tmp_path: Path) -> None:
    write(tmp_path, BUILDS)
    text = """
sources: {page: a page}
beliefs:
- {id: one, certainty: high, source: page}
- {id: two, certainty: perhaps, source: pgae}
- {id: three, certainty: low}
"""
    write(tmp_path, text, "ways/beliefs.yaml")
    with pytest.raises(RulesError) as raised:
        read_rules(tmp_path, (TABLE,), (Document(name="beliefs", file="ways/beliefs.yaml"),))
    assert [str(mistake) for mistake in raised.value.mistakes] == [
        "ways/beliefs.yaml: beliefs[1].certainty: expected one of high, medium, low, got 'perhaps'",
        "ways/beliefs.yaml: beliefs[1].source: no source is named 'pgae' in this file",
        "ways/beliefs.yaml: beliefs[2]: a certainty without a source",
    ]


def test_a_row_in_the_wrong_place(tmp_path: Path) -> None:
    assert any(
        "expected a mapping by platform" in one for one in mistakes(write(tmp_path, "builds: {2.9.1: {cu128: 3}}"))
    )


def test_a_missing_file(tmp_path: Path) -> None:
    assert mistakes(tmp_path) == ["torch/builds.yaml: cannot be read: No such file or directory"]


def test_the_digest_ignores_line_ends_only(tmp_path: Path) -> None:
    unix = digest(write(tmp_path, BUILDS))
    (tmp_path / "torch/builds.yaml").write_bytes(BUILDS.replace("\n", "\r\n").encode())
    assert digest(tmp_path) == unix
    write(tmp_path, BUILDS + "# more\n")
    assert digest(tmp_path) != unix


def test_ranges_of_python_minors() -> None:
    assert minors("3.8-3.10, 3.12") == "3.8 3.9 3.10 3.12"
    assert minors(["3.13", "3.14"]) == "3.13 3.14"
    assert span("3.8") == "3.8 3.8"
    for bad in ("3", "3.8-", "3.10-3.9", "2.7-3.4", "3.x"):
        with pytest.raises(Wrong):
            minors(bad)


def test_targets_take_nvcc_suffixes() -> None:
    assert targets([80, "90a", "100f"]) == "80 90a 100f"
    for bad in ([True], ["90b"], [8.6], [5], "80"):
        with pytest.raises(Wrong):
            targets(bad)
