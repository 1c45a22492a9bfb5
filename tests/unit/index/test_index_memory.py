"""What was worked out of a package is given back while the files it came from are the same, and not longer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from envsolve.errors import OfflineError
from envsolve.index.cache import FORMAT
from envsolve.index.package_index import PackageIndex, open_index
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel, stub_torch

LINUX = "cp312-cp312-manylinux_2_28_x86_64"
KNOWN = {"texts": ["1.0"]}


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        yield running


def _index(server: IndexServer, folder: Path, **changes: object) -> PackageIndex:
    fields = {
        "index": server.simple,
        "pytorch_index": server.whl,
        "cache_dir": folder / "cache",
        "retries": 0,
        "timeout": 5.0,
    }
    return open_index(Settings(**(fields | changes)), python="3.12", platform="linux_x86_64")  # type: ignore[arg-type]


def _remember(index: PackageIndex, name: str = "lib") -> None:
    index.files(name)
    index.remember(name, "target", KNOWN)


def test_it_is_given_back_to_the_same_target_without_a_request(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        assert index.recall("lib", "target") is None
        _remember(index)
    for offline in (False, True):
        with _index(server, tmp_path, offline=offline) as index:
            assert index.recall("lib", "target") == KNOWN
            assert index.recall("lib", "another target") is None
            assert index.recall("lib", "target", version=Version("1.0")) is None
            assert index.requests == 0


def test_a_page_that_changed_is_seen(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        _remember(index)
    _age(tmp_path)
    with _index(server, tmp_path) as index:
        assert index.recall("lib", "target") == KNOWN and index.requests == 1  # 304: the same as before
    server.add_package(StubWheel(name="lib", version="2.0"))
    with _index(server, tmp_path) as index:
        assert index.recall("lib", "target") == KNOWN and index.requests == 0  # young enough
    _age(tmp_path)
    with _index(server, tmp_path) as index:
        assert index.recall("lib", "target") is None
        assert len(index.files("lib")) == 2
        assert index.requests == 1


def test_refresh_works_everything_out_anew(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        _remember(index)
    with _index(server, tmp_path, refresh=True) as index:
        assert index.recall("lib", "target") is None


def test_other_places_are_another_question(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        _remember(index)
    with IndexServer() as extra, _index(server, tmp_path, extra_indexes=(extra.simple,)) as index:
        assert index.recall("lib", "target") is None


def test_an_answer_with_a_place_missing_is_not_kept(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    down = {"extra_indexes": ("http://no-such-host.invalid/simple",)}
    with _index(server, tmp_path, **down) as index:
        _remember(index)
        assert index.warnings
    with _index(server, tmp_path, offline=True, **down) as index:
        assert index.recall("lib", "target") is None


def test_files_on_disk_count_with_size_and_date(server: IndexServer, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    wheel = links / stub_torch("2.11.0+cu128", tag=LINUX).filename
    stub_torch("2.11.0+cu128", tag=LINUX).write(links)
    version = Version("2.11.0+cu128")
    settings = {"find_links": (links.as_uri(),)}
    with _index(server, tmp_path, **settings) as index:
        index.files("torch", variant="cu128", version=version)
        index.remember("torch", "target", KNOWN, variant="cu128", version=version)
    with _index(server, tmp_path, **settings) as index:
        assert index.recall("torch", "target", variant="cu128", version=version) == KNOWN
    os.utime(wheel, (1, 1))
    with _index(server, tmp_path, **settings) as index:
        assert index.recall("torch", "target", variant="cu128", version=version) is None


def test_the_first_index_is_asked_again_before_the_second_ones_answer_counts(
    server: IndexServer, tmp_path: Path
) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with IndexServer() as private:
        settings = {"extra_indexes": (private.simple,), "index_strategy": "first"}
        with _index(server, tmp_path, **settings) as index:
            _remember(index)
        with _index(server, tmp_path, **settings) as index:
            assert index.recall("lib", "target") == KNOWN
        private.add_package(StubWheel(name="lib", version="0.1"))
        _age(tmp_path)
        with _index(server, tmp_path, **settings) as index:
            assert index.recall("lib", "target") is None
            assert [str(file.version) for file in index.files("lib")] == ["0.1"]


def test_offline_without_a_page_there_is_nothing_to_give_back(server: IndexServer, tmp_path: Path) -> None:
    with _index(server, tmp_path, offline=True) as index:
        assert index.recall("lib", "target") is None
        with pytest.raises(OfflineError):
            index.files("lib")


def _age(folder: Path, seconds: float = 1e6) -> None:
    for path in (folder / "cache").rglob("*"):
        if path.is_file():
            then = path.stat().st_mtime - seconds
            os.utime(path, (then, then))


def test_runs_side_by_side_keep_what_the_other_wrote(server: IndexServer, tmp_path: Path) -> None:
    for name in ("lib", "other", "third"):
        server.add_package(StubWheel(name=name, version="1.0"))
    with _index(server, tmp_path) as one:
        _remember(one)
        with _index(server, tmp_path) as two:
            _remember(two, "other")
    with _index(server, tmp_path, refresh=True) as anew:
        _remember(anew, "third")
    with _index(server, tmp_path) as index:
        assert [index.recall(name, "target") for name in ("lib", "other", "third")] == [KNOWN] * 3


def test_what_is_no_answer_is_passed_over(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        _remember(index)
    (file,) = (tmp_path / "cache" / FORMAT / "worked-out").iterdir()
    head, body = file.read_text().split("\n")
    (key,) = json.loads(body)
    for broken in ([], {}, {key: None}, {key: [None, KNOWN]}, {key: [[]]}):
        file.write_text(f"{head}\n{json.dumps(broken)}")
        with _index(server, tmp_path) as index:
            assert index.recall("lib", "target") is None
    file.write_text(f"{head}\n{body}")
    with _index(server, tmp_path) as index:
        assert index.recall("lib", "target") == KNOWN


def test_a_target_that_has_grown_large_keeps_what_is_used(
    server: IndexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envsolve.index.shelf._MOST", 2)
    for name in ("lib", "other", "third"):
        server.add_package(StubWheel(name=name, version="1.0"))
        with _index(server, tmp_path) as index:
            index.recall("lib", "target")
            _remember(index, name)
    with _index(server, tmp_path) as index:
        assert [index.recall(name, "target") for name in ("lib", "other", "third")] == [KNOWN, None, KNOWN]
