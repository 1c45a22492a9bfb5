"""The default Python index, for real: pages in JSON, METADATA in a few requests even of a very large wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsolve.index.package_index import open_index
from envsolve.settings import load_settings

pytestmark = pytest.mark.network


def test_a_large_wheel_is_read_by_its_end(tmp_path: Path) -> None:
    settings = load_settings({"source": "pypi", "cache-dir": str(tmp_path)})
    with open_index(settings, python="3.12", platform="linux_x86_64") as index:
        files = [file for file in index.files("torch") if file.is_wheel and not file.version.is_prerelease]
        newest = max(files, key=lambda file: file.version)
        metadata = index.metadata(newest)
        assert (metadata.name, metadata.version) == ("torch", newest.version)
        assert "filelock" in {requirement.name for requirement in metadata.requires}
        assert newest.sha256 is not None and index.requests <= 4
    with open_index(
        load_settings({"offline": True, "source": "pypi", "cache-dir": str(tmp_path)}),
        python="3.12",
        platform="linux_x86_64",
    ) as index:
        assert index.metadata(newest) == metadata and index.requests == 0


def test_many_pages_at_once(tmp_path: Path) -> None:
    names = ["numpy", "filelock", "sympy", "networkx", "jinja2", "fsspec", "typing-extensions", "pillow"]
    settings = load_settings({"cache-dir": str(tmp_path)})
    with open_index(settings, python="3.12", platform="linux_x86_64") as index:
        index.prefetch(names)
        newest = [max(index.files(name), key=lambda file: file.version) for name in names]
        index.prefetch_metadata(newest)
        assert [index.metadata(file).name for file in newest] == names
        assert index.requests <= 3 * len(names)
