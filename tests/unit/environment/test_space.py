"""Whether a download fits."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest

from envsolve.environment import space
from envsolve.environment.sizes import Download, download
from envsolve.environment.space import check_space, needs
from envsolve.environment.wanted import wheels_folder
from envsolve.errors import OutsideError
from envsolve.lock import requirements_txt
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_locks import served_lock, stub_lock
from fakes.stub_wheels import StubWheel, stub_torch

Usage = namedtuple("Usage", "total used free")
SIX = StubWheel(name="six", version="1.17.0")


def settings(tmp_path: Path, **more: object) -> Settings:
    return Settings(cache_dir=tmp_path, **more)  # type: ignore[arg-type]


def test_the_sizes_of_a_lock_are_added_up(tmp_path: Path) -> None:
    lock = stub_lock({}, [SIX, StubWheel(name="b", version="1")])
    total = sum(file.size or 0 for package in lock.packages for file in package.files)
    assert download(lock, settings(tmp_path)) == Download(size=total, complete=True)


def test_a_size_that_is_not_known_is_left_out(tmp_path: Path) -> None:
    lock = requirements_txt.read(requirements_txt.write(stub_lock({}, [SIX])))
    assert download(lock, settings(tmp_path)) == Download(size=0, complete=False)


def test_the_address_of_a_torch_wheel_is_asked(tmp_path: Path) -> None:
    with IndexServer() as server:
        lock = requirements_txt.read(served_lock(server, padding=10_000))
        server.require_login("/whl/*", "user", "secret")
        login = settings(tmp_path, mirror=server.whl.replace("//", "//user:secret@"))
        assert download(lock, login).size > 10_000
        assert {seen.method for seen in server.requests} == {"HEAD"}
        asked = server.count()
        assert download(lock, settings(tmp_path, offline=True)) == Download(size=0, complete=False)
        assert server.count() == asked


def test_a_wheel_that_an_earlier_run_kept_is_measured(tmp_path: Path) -> None:
    wheel = stub_torch("2.11.0+cpu")
    lock = requirements_txt.read(requirements_txt.write(stub_lock({f"https://h.example/{wheel.filename}": wheel}, [])))
    offline = settings(tmp_path, offline=True)
    assert download(lock, offline) == Download(size=0, complete=False)
    kept = wheels_folder(offline) / wheel.sha256
    kept.mkdir(parents=True)
    wheel.write(kept)
    assert download(lock, offline) == Download(size=len(wheel.content), complete=True)


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 404}, {"status": 403}])
def test_an_address_that_does_not_answer_is_left_to_the_installer(tmp_path: Path, fault: dict[str, object]) -> None:
    with IndexServer() as server:
        lock = requirements_txt.read(served_lock(server))
        server.fault("*", **fault)
        assert download(lock, settings(tmp_path, retries=0)) == Download(size=0, complete=False)


def test_a_file_on_this_disk_is_measured(tmp_path: Path) -> None:
    wheel = stub_torch("2.11.0+cpu")
    lock = requirements_txt.read(requirements_txt.write(stub_lock({wheel.write(tmp_path).as_uri(): wheel}, [])))
    assert download(lock, settings(tmp_path)) == Download(size=len(wheel.content), complete=True)


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
