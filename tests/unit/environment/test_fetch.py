"""Fetching large wheels: whole or partial, resumed, refused when the bytes are others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envsolve.environment.failure import OtherBytes
from envsolve.environment.fetch import fetch
from envsolve.environment.gather import LARGE, drop_damaged, large_files
from envsolve.environment.partial import Partial
from envsolve.environment.sizes import Download, download
from envsolve.environment.wanted import Wanted, kept, wheels_folder
from envsolve.errors import OutsideError
from envsolve.lock import requirements_txt
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_locks import served_lock, stub_lock
from fakes.stub_wheels import StubWheel, stub_torch

WHEEL = StubWheel(name="big", version="1", padding=3_000_000)


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache_dir=tmp_path / "cache", retries=0)


def wanted(server: IndexServer, wheel: StubWheel = WHEEL) -> Wanted:
    url = server.add_wheel("cpu", wheel)
    return Wanted(filename=wheel.filename, url=url, sha256=wheel.sha256, size=len(wheel.content))


def part_of(one: Wanted, settings: Settings) -> Path:
    return wheels_folder(settings) / f"{one.sha256}.part"


def asked_ranges(server: IndexServer) -> list[str]:
    return [seen.headers["Range"] for seen in server.requests if "Range" in seen.headers]


def test_a_file_comes_once(server: IndexServer, settings: Settings) -> None:
    one = wanted(server)
    heard: list[tuple[int, int]] = []
    first = fetch([one], settings, progress=lambda done, total: heard.append((done, total)))
    assert first.files == {one.sha256: kept(one, settings)} and not first.failed
    assert kept(one, settings).read_bytes() == WHEEL.content
    assert heard[-1] == (len(WHEEL.content), len(WHEEL.content)) and heard == sorted(heard)
    assert fetch([one], settings).files == first.files
    assert len(server.requests) == 1


def test_a_dropped_connection_goes_on_in_the_next_run(server: IndexServer, settings: Settings) -> None:
    one = wanted(server)
    server.fault("*", truncated=True, times=1)
    server.fault("*", status=503)
    assert isinstance(fetch([one], settings).failed[one.sha256], OutsideError)
    server.clear_faults()
    server.requests.clear()
    half = part_of(one, settings).stat().st_size
    assert 0 < half < len(WHEEL.content)

    assert fetch([one], settings).files[one.sha256].read_bytes() == WHEEL.content
    assert asked_ranges(server) == [f"bytes={half}-"]
    assert not part_of(one, settings).exists()


def test_a_dropped_connection_goes_on_in_the_same_run(server: IndexServer, tmp_path: Path) -> None:
    one = wanted(server)
    server.fault("*", truncated=True, times=3)
    settings = Settings(cache_dir=tmp_path, retries=1)
    assert fetch([one], settings).files[one.sha256].read_bytes() == WHEEL.content
    assert len(asked_ranges(server)) == 3


def test_a_server_without_ranges_begins_anew(server: IndexServer, settings: Settings) -> None:
    one = wanted(server)
    server.ranges = False
    part_of(one, settings).parent.mkdir(parents=True)
    part_of(one, settings).write_bytes(WHEEL.content[:1000])
    heard: list[int] = []
    fetched = fetch([one], settings, progress=lambda done, total: heard.append(done))
    assert fetched.files[one.sha256].read_bytes() == WHEEL.content
    assert heard[-1] == len(WHEEL.content)


@pytest.mark.parametrize("left", [b"something else", WHEEL.content, WHEEL.content + b"more"], ids=["other", "all", "+"])
def test_whatever_an_earlier_run_left_the_bytes_are_right(server: IndexServer, settings: Settings, left: bytes) -> None:
    one = wanted(server)
    part_of(one, settings).parent.mkdir(parents=True)
    part_of(one, settings).write_bytes(left)
    assert fetch([one], settings).files[one.sha256].read_bytes() == WHEEL.content


@pytest.mark.parametrize("fault", [{"wrong": True}, {"html": True}], ids=["other bytes", "an error page"])
def test_other_bytes_are_refused_and_removed(server: IndexServer, settings: Settings, fault: dict[str, object]) -> None:
    one = wanted(server)
    server.fault("*", **fault)
    fetched = fetch([one], settings)
    assert isinstance(fetched.failed[one.sha256], OtherBytes) and not fetched.files
    assert [path.name for path in wheels_folder(settings).iterdir() if path.suffix != ".lock"] == []


def test_a_kept_file_that_has_rotted_is_fetched_anew(server: IndexServer, settings: Settings) -> None:
    one = wanted(server)
    path = fetch([one], settings).files[one.sha256]
    path.write_bytes(b"rot")
    assert fetch([one], settings, prove_kept=False).files[one.sha256].read_bytes() == WHEEL.content  # its size tells
    path.write_bytes(b"rot" + WHEEL.content[3:])
    assert fetch([one], settings).files[one.sha256].read_bytes() == WHEEL.content


def test_damaged_files_are_dropped(server: IndexServer, settings: Settings) -> None:
    whole, rotten, absent = wanted(server), wanted(server, StubWheel(name="other", version="1")), wanted(server)
    absent = replace(absent, sha256="0" * 64)
    fetch([whole, rotten], settings)
    content = kept(rotten, settings).read_bytes()
    kept(rotten, settings).write_bytes(b"rot" + content[3:])
    assert drop_damaged((whole, rotten, absent), settings)
    assert kept(whole, settings).is_file() and not kept(rotten, settings).exists()
    assert not drop_damaged((whole, rotten, absent), settings)


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_refusal_is_told_and_the_others_come(server: IndexServer, settings: Settings, status: int) -> None:
    one, two = wanted(server), wanted(server, StubWheel(name="other", version="1"))
    server.fault("*/big-*", status=status)
    fetched = fetch([one, two], settings)
    assert set(fetched.failed) == {one.sha256} and set(fetched.files) == {two.sha256}


def test_a_disk_that_is_full_is_an_oserror(
    server: IndexServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Partial, retries: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Partial, "complete", full)
    with pytest.raises(OSError, match="No space"):
        fetch([wanted(server)], settings)


def test_only_large_files_with_an_address_are_fetched(server: IndexServer, settings: Settings) -> None:
    lock = requirements_txt.read(served_lock(server, WHEEL, padding=LARGE))
    found = large_files(lock, download(lock, settings), settings, here={})
    assert [one.filename for one in found] == [stub_torch("2.11.0+cpu").filename]
    assert large_files(lock, download(lock, settings), settings, here={found[0].sha256: Path("x")}) == ()


def test_offline_only_what_was_kept(server: IndexServer, tmp_path: Path) -> None:
    torch = stub_torch("2.11.0+cpu", padding=LARGE)
    lock = stub_lock({server.add_wheel("cpu", torch): torch}, [])
    online, offline = Settings(cache_dir=tmp_path), Settings(cache_dir=tmp_path, offline=True)
    known = Download(size=0, complete=False)
    assert large_files(lock, known, offline, here={}) == ()
    (one,) = large_files(lock, known, online, here={})
    fetch([one], online)
    assert large_files(lock, known, offline, here={}) == (one,)
