"""The quick look at names leaves no library with CUDA code out."""

from __future__ import annotations

from pathlib import Path

from envsolve.rulebook.extension_names import may_be_known
from envsolve.rulebook.ways_tables import load_ways


def test_every_library_of_the_tables_is_seen_and_common_packages_are_not() -> None:
    names = list(load_ways().extension_packages)
    assert len(names) > 5 and all(may_be_known([name]) for name in names)
    assert may_be_known(["pandas", names[0]])
    assert not may_be_known(["pandas", "scikit-learn", "jupyterlab", "a-package-of-nobody"])
    assert not may_be_known([])


def test_where_the_tables_cannot_be_read_nothing_is_ruled_out(tmp_path: Path) -> None:
    assert may_be_known(["pandas"], tmp_path)
