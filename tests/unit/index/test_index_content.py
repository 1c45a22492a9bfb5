"""METADATA by the cheapest way there is; hashes; what is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from envsolve.errors import OutsideError
from envsolve.index.package_index import PackageIndex, open_index
from envsolve.index.release import ReleaseFile
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

WHEEL = StubWheel(
    name="Lib.One",
    version="1.5+cu128",
    requires=("numpy>=1.20", 'pytest ; extra == "Test_It"'),
    extras=("Test_It",),
    requires_python=">=3.9",
    padding=200_000,
)


TORCH = replace(WHEEL, name="torch")


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        yield running


def _settings(server: IndexServer, folder: Path, **changes: object) -> Settings:
    fields = {"index": server.simple, "cache_dir": folder / "cache", "retries": 1, "timeout": 5.0}
    return Settings(**(fields | changes))  # type: ignore[arg-type]


def _index(server: IndexServer, folder: Path, **changes: object) -> PackageIndex:
    return open_index(_settings(server, folder, **changes), python="3.12", platform="linux_x86_64")


def _only(index: PackageIndex, name: str = "lib-one") -> ReleaseFile:
    [file] = index.files(name)
    return file


def _check(index: PackageIndex, file: ReleaseFile) -> None:
    metadata = index.metadata(file)
    assert metadata.name == "lib-one" and str(metadata.version) == "1.5+cu128"
    assert metadata.requires == (Requirement("numpy>=1.20"), Requirement('pytest; extra == "Test_It"'))
    assert metadata.extras == {"test-it"} and str(metadata.requires_python) == ">=3.9"


def test_metadata_beside_the_wheel_is_one_request(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    assert (server.count("*.metadata"), server.count("*.whl")) == (1, 0)


def test_without_it_one_range_of_the_tail_will_do(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL, metadata_file=False)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    [seen] = [seen for seen in server.requests if seen.path.endswith(".whl")]
    assert seen.status == 206 and seen.headers["Range"] == "bytes=-65536"


def test_a_promise_that_is_not_kept_leads_to_the_wheel(server: IndexServer, tmp_path: Path) -> None:
    url = server.add_package(WHEEL)
    server.fault("*.metadata", status=404)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
        assert index.warnings == []
    assert server.count("*.whl") == 1 and url.endswith(".whl")


@pytest.mark.parametrize("fault", ["wrong", "html"])
def test_metadata_with_another_hash_is_not_believed(server: IndexServer, tmp_path: Path, fault: str) -> None:
    server.add_package(WHEEL)
    server.fault("*.metadata", **{fault: True})
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
        assert "another hash" in index.warnings[0]
    assert server.count("*.whl") == 1


def test_a_long_table_of_contents_takes_more_ranges(server: IndexServer, tmp_path: Path) -> None:
    modules = {f"lib_one/module_with_a_rather_long_name_{n:05}.py": f"X = {n}" for n in range(3000)}
    server.add_package(replace(WHEEL, modules=modules), metadata_file=False)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    seen = [seen for seen in server.requests if seen.path.endswith(".whl")]
    assert [s.status for s in seen] == [206] * len(seen) and 2 <= len(seen) <= 3


def test_a_server_without_ranges_sends_the_wheel_once(server: IndexServer, tmp_path: Path) -> None:
    server.ranges = False
    other = StubWheel(name="other", version="2")
    server.add_package(WHEEL, metadata_file=False)
    server.add_package(other, metadata_file=False)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
        assert index.metadata(_only(index, "other")).requires == ()
    # The first answer shows that ranges are ignored and is dropped; the host isn't asked for a range again.
    assert (server.count("*Lib_One*.whl"), server.count("*other*.whl")) == (2, 1)


@pytest.mark.parametrize("status", [416, 501])
def test_a_server_that_knows_no_ranges_from_the_end(server: IndexServer, tmp_path: Path, status: int) -> None:
    server.add_package(WHEEL, metadata_file=False)
    server.fault("*.whl", status=status, times=1)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    assert [s.method for s in server.requests if s.path.endswith(".whl")] == ["GET", "HEAD", "GET"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_web_page_in_place_of_a_wheel_is_refused(server: IndexServer, tmp_path: Path, ranges: bool) -> None:
    server.ranges = ranges
    server.add_package(WHEEL, metadata_file=False)
    server.fault("*.whl", html=True)
    with _index(server, tmp_path) as index, pytest.raises(OutsideError, match="not Lib_One-1"):
        index.metadata(_only(index))


def test_a_wheel_with_other_bytes_is_refused(server: IndexServer, tmp_path: Path) -> None:
    server.ranges = False
    url = server.add_package(WHEEL, metadata_file=False)
    server.replace(url, replace(WHEEL, requires=("evil",)).content)
    with _index(server, tmp_path) as index, pytest.raises(OutsideError, match="and the index says"):
        index.metadata(_only(index))


def test_metadata_of_another_package_is_refused(server: IndexServer, tmp_path: Path) -> None:
    url = server.add_package(WHEEL, metadata_file=False)
    impostor = replace(WHEEL, version="1.6")
    server.replace(url, impostor.content)
    with _index(server, tmp_path) as index, pytest.raises(OutsideError, match=r"says that it is Lib.One 1\.6"):
        index.metadata(_only(index))


def test_a_truncated_answer_is_asked_for_again(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL)
    server.fault("*.metadata", truncated=True, times=1)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    assert server.count("*.metadata") == 2


def test_a_listed_file_that_is_not_there(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL, metadata_file=False)
    server.fault("*.whl", status=404)
    with _index(server, tmp_path) as index:
        for read in (index.metadata, index.hash_file):
            with pytest.raises(OutsideError, match="listed and not there"):
                read(_only(index))


def test_metadata_is_cached_by_hash_for_good(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL)
    with _index(server, tmp_path) as index:
        _check(index, _only(index))
    asked = len(server.requests)
    with _index(server, tmp_path, offline=True) as index:
        _check(index, _only(index))
        assert index.requests == 0
    assert len(server.requests) == asked
    with _index(server, tmp_path, refresh=True) as index:
        _check(index, _only(index))
    assert server.count("*.metadata") == 2


def test_offline_says_what_is_missing(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(WHEEL)
    with _index(server, tmp_path) as index:
        file = _only(index)
    with _index(server, tmp_path, offline=True) as index:
        for read in (index.metadata, index.hash_file):
            with pytest.raises(OutsideError, match=r"offline, and .*Lib_One"):
                read(file)
        with pytest.raises(OutsideError, match=r"offline, and .*/simple/unknown/"):
            index.files("unknown")


def test_a_hash_is_made_once_and_kept_while_the_file_is_the_same(server: IndexServer, tmp_path: Path) -> None:
    url = server.add_wheel("cu128", TORCH, form="D")
    digest = TORCH.sha256
    for _ in range(2):
        with _index(server, tmp_path, mirror=server.whl, pytorch_index=server.whl) as index:
            [file] = index.files("torch", variant="cu128")
            assert file.sha256 is None and index.hash_file(file) == digest
    assert server.count("*.whl") == 1
    changed = replace(TORCH, requires=())
    server.replace(url, changed.content)
    with _index(server, tmp_path, mirror=server.whl, pytorch_index=server.whl, refresh=True) as index:
        [file] = index.files("torch", variant="cu128")
        assert index.hash_file(file) == changed.sha256


@pytest.mark.parametrize("fault", [{"truncated": True}, {"html": True}, {"status": 403}])
def test_a_hash_is_never_made_of_something_else(server: IndexServer, tmp_path: Path, fault: dict[str, object]) -> None:
    server.add_package(WHEEL)
    server.fault("*.whl", **fault)
    with _index(server, tmp_path) as index:
        file = replace(_only(index), sha256=None)
        with pytest.raises(OutsideError):
            index.hash_file(file)
    server.clear_faults()
    with _index(server, tmp_path) as index:
        assert index.hash_file(file) == WHEEL.sha256


def test_local_wheels_are_read_by_path(server: IndexServer, tmp_path: Path) -> None:
    links = tmp_path / "some wheels"
    links.mkdir()
    path = WHEEL.write(links)
    with _index(server, tmp_path, find_links=(links.as_uri(),), no_index=True) as index:
        file = _only(index)
        assert file.is_local and file.sha256 is None
        _check(index, file)
        assert index.hash_file(file) == WHEEL.sha256
        path.write_bytes(b"no wheel")
        assert index.hash_file(file) == hashlib.sha256(b"no wheel").hexdigest()
    index = _index(server, tmp_path, find_links=(links.as_uri(),), no_index=True)
    with index, pytest.raises(OutsideError, match="is not a wheel"):
        index.metadata(file)
    assert server.requests == []
