"""Whether a download fits."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from pathlib import Path

import pytest

from envsolve.environment import space
from envsolve.environment.space import check_space, download_size, needs
from envsolve.errors import OutsideError
from fakes.stub_locks import stub_lock
from fakes.stub_wheels import StubWheel

Usage = namedtuple("Usage", "total used free")
SIX = StubWheel(name="six", version="1.17.0")


def test_the_biggest_file_of_each_package_counts() -> None:
    lock = stub_lock({}, [SIX, StubWheel(name="b", version="1")])
    assert download_size(lock) == sum(file.size or 0 for package in lock.packages for file in package.files)


def test_a_size_that_is_not_known_makes_the_sum_unknown() -> None:
    lock = stub_lock({}, [SIX])
    (package,) = lock.packages
    file = dataclasses.replace(package.files[0], size=None)
    unknown = dataclasses.replace(lock, packages=(dataclasses.replace(package, files=(file,)),))
    assert download_size(unknown) is None


def test_too_little_space_is_told_with_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space.shutil, "disk_usage", lambda path: Usage(100, 99, 1_500_000_000))
    check_space(needs(500_000_000, tmp_path, "uv"))
    with pytest.raises(OutsideError) as caught:
        check_space(needs(3_000_000_000, tmp_path / "not/there/yet", "uv"))
    assert "6.0 GB" in caught.value.message and "1.5 GB are free" in caught.value.message


def test_what_shares_a_file_system_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip: twice the download unpacked, once in its cache, once in the temporary folder."""
    monkeypatch.setattr(space, "_device", lambda path: 1)
    monkeypatch.setattr(space.shutil, "disk_usage", lambda path: Usage(0, 0, 3_900_000_000))
    with pytest.raises(OutsideError) as caught:
        check_space(needs(1_000_000_000, tmp_path, "pip"))
    assert "4.0 GB" in caught.value.message


def test_uvs_cache_on_another_file_system_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(space, "_device", lambda path: 2 if path.name == "cache" else 1)
    assert [need.what for need in needs(10, tmp_path / "env", "uv")] == ["the environment", "uv's cache"]
