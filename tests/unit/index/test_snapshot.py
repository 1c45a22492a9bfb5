"""The snapshot: what it stands for, what it holds, and that nothing in it is made up."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from envsolve.addresses import PYTORCH_INDEX
from envsolve.errors import OfflineError, OutsideError
from envsolve.index.package_index import open_index
from envsolve.index.snapshot_file import SnapshotFile, bundled, write_snapshot
from envsolve.rulebook.wheels import load_wheels
from envsolve.settings import Settings


@pytest.fixture(scope="module")
def parts() -> dict[str, dict[str, list[list[object]]]]:
    """Every part of the bundled snapshot."""
    file = bundled()
    return {name: file.part(name) for name in file._head["parts"]}


def _settings(folder: Path, **changes: object) -> Settings:
    return Settings(cache_dir=folder / "cache", offline=True, **changes)  # type: ignore[arg-type]


def test_parts_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "s.pack"
    content = {"pypi b": {"files": [["ä", 1]]}, "pypi a": {"files": []}}
    write_snapshot(path, "2026-12-01", content)
    first = path.read_bytes()
    write_snapshot(path, "2026-12-01", dict(reversed(content.items())))
    assert path.read_bytes() == first  # the same bytes for the same content
    file = SnapshotFile(path)
    assert file.date == "2026-12-01" and file.part("pypi b") == content["pypi b"] and file.part("pypi c") is None


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"format": 99, "date": "", "parts": {}}\n', b"no json\n"])
def test_a_broken_file_is_said_to_be_broken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.pack"
    path.write_bytes(content)
    with pytest.raises(OutsideError, match="snapshot can't be read"):
        SnapshotFile(path).part("pypi a")


def test_a_cut_part_is_said_to_be_broken(tmp_path: Path) -> None:
    path = tmp_path / "s.pack"
    write_snapshot(path, "2026-12-01", {"pypi a": {"files": [["x"] * 50]}})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(OutsideError, match="snapshot can't be read"):
        SnapshotFile(path).part("pypi a")


def test_the_bundled_one_is_small_dated_and_names_no_host(parts: dict[str, dict[str, list[list[object]]]]) -> None:
    file = bundled()
    assert file.path.stat().st_size < 2_000_000
    assert datetime.date.fromisoformat(file.date) <= datetime.date.today()
    text = json.dumps(parts)
    assert not re.search(r"https?:|files\.|\.org|\.com", text)


def test_every_file_has_a_hash_a_readable_name_and_metadata_that_can_be_read(
    parts: dict[str, dict[str, list[list[object]]]],
) -> None:
    for name, part in parts.items():
        package = name.split(" ")[1]
        for python, requires, _extras in part["metadata"]:
            SpecifierSet(str(python))
            assert all(Requirement(text) for text in requires)  # type: ignore[attr-defined]
        for filename, sha256, size, number, python in part["files"]:
            assert parse_wheel_filename(str(filename))[0] == package
            assert re.fullmatch("[0-9a-f]{64}", str(sha256))
            assert isinstance(size, int) and isinstance(number, int) and part["metadata"][number]
            SpecifierSet(str(python))
        assert len({row[0] for row in part["files"]}) == len(part["files"])


def test_the_torch_familys_hashes_are_those_of_the_table(parts: dict[str, dict[str, list[list[object]]]]) -> None:
    wheels = load_wheels()
    for name, part in parts.items():
        folder = name.split(" ")[0]
        if folder != "pypi":
            for filename, sha256, *_ in part["files"]:
                seen = wheels.at(f"{folder}/{filename}")
                assert seen is not None and seen.sha256 == sha256 and not seen.inferred


def test_cuda_wheels_for_linux_require_the_libraries_of_their_own_cuda(
    parts: dict[str, dict[str, list[list[object]]]],
) -> None:
    checked = 0
    for folder in ("cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130"):
        part = parts[f"{folder} torch"]
        for filename, _sha256, _size, number, _python in part["files"]:
            requires = " ".join(part["metadata"][number][1])  # type: ignore[arg-type]
            names = set(re.findall(r"nvidia-[a-z0-9-]+", requires))
            suffixes = {found[1] for found in (re.search(r"-(cu\d\d)$", name) for name in names) if found}
            if "x86_64" in str(filename) and Version(str(filename).split("-")[1]) >= Version("2.2"):
                assert suffixes == {folder[:4]}, filename
                checked += 1
            # Windows and macOS wheels may list the libraries of another one, for Linux only.
            assert suffixes <= {folder[:4]} or "win" in str(filename), filename
    assert checked > 150


def test_it_stands_for_the_two_indexes_only(tmp_path: Path) -> None:
    with open_index(_settings(tmp_path), python="3.12", platform="linux_x86_64") as index:
        version = Version("2.10.0+cu128")
        [file] = [f for f in index.files("torch", variant="cu128", version=version) if "cp312-cp312-" in f.filename]
        assert file.url.startswith(f"{PYTORCH_INDEX}/cu128/torch-2.10.0%2Bcu128-") and file.sha256 and file.has_address
        metadata = index.metadata(file)
        assert {"filelock", "triton", "nvidia-cublas-cu12"} <= {r.name for r in metadata.requires}
        numpy = index.files("numpy")[0]
        assert numpy.sha256 and not numpy.has_address and index.metadata(numpy).version == numpy.version
        assert index.requests == 0
        [said] = index.warnings
        assert bundled().date in said and "offline" in said
        with pytest.raises(OfflineError, match="not in the cache"):
            index.files("a-package-of-nobody")
    other = _settings(tmp_path, pytorch_index="https://mirror.example/whl")
    with open_index(other, python="3.12", platform="linux_x86_64") as index, pytest.raises(OfflineError):
        index.files("torch", variant="cu128", version=version)


def test_of_the_family_a_folder_that_it_lacks_is_empty_so_that_another_variant_is_tried(tmp_path: Path) -> None:
    with open_index(_settings(tmp_path), python="3.12", platform="linux_x86_64") as index:
        for name in ("torch", "torchvision", "torchaudio"):
            assert index.files(name, variant="cu999") == ()
        with pytest.raises(OfflineError, match="not in the cache"):
            index.files("triton", variant="cu999")  # the default index may have it: nothing is known of it


def test_metadata_is_that_of_exactly_this_file(tmp_path: Path) -> None:
    from dataclasses import replace

    with open_index(_settings(tmp_path), python="3.12", platform="linux_x86_64") as index:
        file = index.files("sympy")[0]
        assert index.metadata(file).requires
        with pytest.raises(OfflineError):
            index.metadata(replace(file, sha256="0" * 64))


def test_online_it_is_not_asked(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path, index="http://no-such-host.invalid/simple", retries=0, timeout=2.0)
    with open_index(settings, python="3.12", platform="linux_x86_64") as index, pytest.raises(OutsideError):
        index.files("numpy")
