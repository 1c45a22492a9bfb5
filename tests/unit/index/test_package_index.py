"""Which place answers for which package, in which order; what happens when one can't be reached."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from packaging.version import Version

from envsolve.errors import OutsideError
from envsolve.index.package_index import PackageIndex, open_index
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.settings import Settings
from fakes.index_server import JSON_TYPE, IndexServer
from fakes.stub_wheels import StubSdist, StubWheel, stub_torch

LINUX = "cp312-cp312-manylinux_2_28_x86_64"
NOWHERE = "http://no-such-host.invalid"


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
    settings = Settings(**(fields | changes))  # type: ignore[arg-type]
    return open_index(settings, python="3.12", platform="linux_x86_64")


def _versions(index: PackageIndex, name: str, variant: str | None = None) -> list[str]:
    return [str(file.version) for file in index.files(name, variant=variant)]


@pytest.mark.parametrize("form", "ABCDFGHI")
def test_a_variant_page_in_every_form(server: IndexServer, tmp_path: Path, form: str) -> None:
    wheel = stub_torch("2.11.0+cu128", tag=LINUX)
    url = server.add_wheel("cu128", wheel, form=form)
    with _index(server, tmp_path) as index:
        [file] = index.files("torch", variant="cu128")
        assert file.url == url.replace("+", "%2B") and file.source == f"{server.whl}/cu128"
        assert file.sha256 == (None if form == "D" else wheel.sha256)
        assert index.metadata(file).version == Version("2.11.0+cu128")


def test_a_root_wheel_is_no_build_of_the_variant(server: IndexServer, tmp_path: Path) -> None:
    server.add_root(stub_torch("2.0.1", tag=LINUX))
    server.add_root(StubWheel(name="torchaudio", version="0.9.0", tag=LINUX))
    server.add_root(StubWheel(name="triton", version="3.6.0", tag=LINUX))
    for variant in ("cu128", "cpu"):
        server.add_wheel(variant, stub_torch(f"2.11.0+{variant}", tag=LINUX))
        server.add_wheel(variant, StubWheel(name="torchaudio", version="0.9.0", tag=LINUX))
    with _index(server, tmp_path) as index:
        assert _versions(index, "torch", "cu128") == ["2.11.0+cu128"]
        assert _versions(index, "torch", "cpu") == ["2.11.0+cpu", "2.0.1"]
        assert [(f.version.public, f.folder) for f in index.files("triton", variant="cu128")] == [("3.6.0", "")]
        # The variant's own file comes before the root's of the same name.
        assert [f.folder for f in index.files("torchaudio", variant="cu128")] == ["cu128"]


def test_files_of_another_variant_on_the_page_are_left_out(server: IndexServer, tmp_path: Path) -> None:
    url = server.add_wheel("cu128", stub_torch("2.6.0+cu124", tag=LINUX))
    server.add_wheel("cu124", stub_torch("2.6.0+cu124", tag=LINUX))
    page = f'<h1>Links for torch</h1><a href="{url.replace("/cu128/", "/cu124_full/")}">full</a>'
    server.replace(f"{server.whl}/cu124/torch/", page.encode())
    with _index(server, tmp_path) as index:
        assert _versions(index, "torch", "cu124") == []


def test_find_links_then_the_mirror_then_the_pytorch_index(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    server.add_wheel("cu128", stub_torch("2.10.0+cu128", tag=LINUX))
    stub_torch("2.11.0+cu128", tag=LINUX, padding=10).write(tmp_path)
    with IndexServer() as mirror:
        for version in ("2.11.0", "2.10.0"):
            mirror.add_wheel("cu128", stub_torch(f"{version}+cu128", tag=LINUX, padding=20))
        with _index(server, tmp_path, mirror=mirror.whl, find_links=(tmp_path.as_uri(),)) as index:
            sources = {str(file.version): file.source for file in index.files("torch", variant="cu128")}
    assert sources == {"2.11.0+cu128": tmp_path.as_uri(), "2.10.0+cu128": f"{mirror.whl}/cu128"}


def test_an_exact_version_stops_at_the_first_place_that_has_it(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    with IndexServer() as mirror:
        mirror.add_wheel("cu128", stub_torch("2.10.0+cu128", tag=LINUX))
        mirror.add_wheel("cu128", stub_torch("2.11.0+cu128", tag="cp39-cp39-manylinux_2_28_x86_64"))
        with _index(server, tmp_path, mirror=mirror.whl) as index:
            [old] = index.files("torch", variant="cu128", version=Version("2.10.0+cu128"))
            assert old.source == f"{mirror.whl}/cu128" and server.requests == []
            # The mirror's 2.11.0 is for another Python, so that the PyTorch index is asked as well.
            new = index.files("torch", variant="cu128", version=Version("2.11.0+cu128"))
            assert [file.source for file in new] == [f"{mirror.whl}/cu128", f"{server.whl}/cu128"]
            assert index.files("torch", variant="cu128", version=Version("2.9.0+cu128")) == ()


def test_a_place_that_is_down_matters_only_if_the_file_is_nowhere_else(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    with _index(server, tmp_path, mirror=f"{NOWHERE}/whl") as index:
        assert _versions(index, "torch", "cu128") == ["2.11.0+cu128"]
        assert [f"{NOWHERE}/whl/cu128/torch/" in warning for warning in index.warnings] == [True]
    with _index(server, tmp_path / "2", mirror=f"{NOWHERE}/whl") as index:
        with pytest.raises(OutsideError, match="no-such-host") as caught:
            index.files("torch", variant="cu128", version=Version("2.10.0+cu128"))
        assert "--mirror" in caught.value.hint


def test_a_mirror_that_answers_is_believed_where_the_pytorch_index_is_out_of_reach(
    server: IndexServer, tmp_path: Path
) -> None:
    server.add_wheel("cu130", stub_torch("2.11.0+cu130", tag=LINUX))
    with _index(server, tmp_path, mirror=server.whl, pytorch_index=NOWHERE) as index:
        assert not index.files("torch", variant="cu130", version=Version("2.13.0+cu130"))
        assert any("no-such-host" in warning for warning in index.warnings)
        assert not index.files("torch", variant="cu132", version=Version("2.13.0+cu132"))


def test_a_page_that_was_not_there_is_asked_for_again_after_a_minute(server: IndexServer, tmp_path: Path) -> None:
    with _index(server, tmp_path) as index:
        assert not index.files("torch", variant="cu130")
    server.add_wheel("cu130", stub_torch("2.11.0+cu130", tag=LINUX))
    with _index(server, tmp_path) as index:
        assert not index.files("torch", variant="cu130")
    _age(tmp_path, 61)
    with _index(server, tmp_path) as index:
        assert index.files("torch", variant="cu130")


def test_the_torch_family_never_comes_from_the_default_or_an_extra_index(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(stub_torch("99.0", tag=LINUX))
    server.add_package(stub_torch("99.0+cu128", tag=LINUX))
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    with _index(server, tmp_path, extra_indexes=(server.simple,)) as index:
        assert _versions(index, "torch", "cu128") == ["2.11.0+cu128"]
        assert _versions(index, "torch") == []
    assert server.count("/simple/*") == 0


def test_source_pypi_takes_the_plain_wheels(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(stub_torch("2.13.0", tag=LINUX))
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    with _index(server, tmp_path, source="pypi", extra_indexes=(f"{NOWHERE}/simple",)) as index:
        assert _versions(index, "torch") == _versions(index, "torch", "cu128") == ["2.13.0"]
    assert server.count("/whl/*") == 0


def test_other_packages_come_from_the_default_and_the_extra_indexes(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with IndexServer() as extra:
        extra.add_package(StubWheel(name="lib", version="2.0"))
        extra.add_package(StubWheel(name="lib", version="1.0", padding=5))
        extra_indexes = (extra.simple,)
        with _index(server, tmp_path, extra_indexes=extra_indexes) as index:
            files = {str(file.version): file.source for file in index.files("lib")}
            assert files == {"1.0": server.simple, "2.0": extra.simple}
            assert index.files("unknown") == ()
        down = {"find_links": (f"{NOWHERE}/links.html",)}
        with _index(server, tmp_path, extra_indexes=extra_indexes, index_strategy="first", **down) as index:
            assert [file.source for file in index.files("lib")] == [extra.simple] * 2
            assert len(index.warnings) == 1


def test_first_index_does_not_fall_through_when_the_private_one_is_down(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="our-lib", version="99"))
    settings = {"extra_indexes": (f"{NOWHERE}/simple",), "index_strategy": "first"}
    with _index(server, tmp_path, **settings) as index, pytest.raises(OutsideError, match="no-such-host"):
        index.files("our-lib")
    assert server.requests == []


def test_find_links_pages_and_folders_serve_other_packages_too(server: IndexServer, tmp_path: Path) -> None:
    server.add_link(StubWheel(name="Our.Lib", version="1.0"))
    server.add_link(StubWheel(name="our-lib-extra", version="3.0"))
    StubWheel(name="our_lib", version="2.0").write(tmp_path)
    StubSdist(name="our_lib", version="3.0").write(tmp_path)
    (tmp_path / "our_lib-9.0-py3-none-any.whl").mkdir()
    missing = (tmp_path / "nothing here").as_uri()
    with _index(server, tmp_path, find_links=(server.links, tmp_path.as_uri(), missing)) as index:
        assert _versions(index, "our-lib") == ["1.0", "2.0"]
        assert [file.is_local for file in index.files("our-lib")] == [False, True]


def test_no_index_leaves_find_links_alone(server: IndexServer, tmp_path: Path) -> None:
    stub_torch("2.11.0+cu128", tag=LINUX).write(tmp_path)
    with _index(server, tmp_path, find_links=(tmp_path.as_uri(),), no_index=True) as index:
        assert _versions(index, "torch", "cu128") == ["2.11.0+cu128"]
        assert index.files("lib") == ()
    assert server.requests == []


def test_only_what_may_fit_is_listed_and_all_if_nothing_does(server: IndexServer, tmp_path: Path) -> None:
    for tag in (LINUX, "cp311-cp311-manylinux_2_28_x86_64", "cp312-cp312-win_amd64", "py3-none-any"):
        server.add_package(StubWheel(name="fits", version="1", tag=tag))
        if tag.endswith("amd64"):
            server.add_package(StubWheel(name="windows-only", version="1", tag=tag))
    server.add_package(StubSdist(name="fits", version="2"))
    server.add_package(StubSdist(name="source-only", version="2"))
    with _index(server, tmp_path) as index:
        assert {f.filename for f in index.files("fits")} == {f"fits-1-{LINUX}.whl", "fits-1-py3-none-any.whl"}
        assert [f.filename for f in index.files("windows-only")] == ["windows_only-1-cp312-cp312-win_amd64.whl"]
        assert [f.is_wheel for f in index.files("source-only")] == [False]


@pytest.mark.parametrize("json", [True, False])
def test_the_default_index_in_json_and_html(server: IndexServer, tmp_path: Path, json: bool) -> None:
    server.json = json
    wheel = StubWheel(name="lib", version="1.0", requires_python=">=3.9")
    server.add_package(wheel, yanked="broken")
    with _index(server, tmp_path) as index:
        [file] = index.files("lib")
    assert (file.sha256, file.yanked, str(file.requires_python)) == (wheel.sha256, "broken", ">=3.9")
    assert file.size == (len(wheel.content) if json else None)
    assert JSON_TYPE in server.requests[0].headers["Accept"]


def test_pages_are_asked_again_after_ten_minutes_only(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    for expected in (1, 1):
        with _index(server, tmp_path) as index:
            assert _versions(index, "lib") == ["1.0"]
        assert server.count("/simple/lib/") == expected
    _age(tmp_path)
    with _index(server, tmp_path) as index:
        assert _versions(index, "lib") == ["1.0"]
    assert [seen.status for seen in server.requests] == [200, 304]
    server.add_package(StubWheel(name="lib", version="2.0"))
    with _index(server, tmp_path) as index:  # the check counts from the 304 on
        assert _versions(index, "lib") == ["1.0"]
    with _index(server, tmp_path, refresh=True) as index:
        assert _versions(index, "lib") == ["1.0", "2.0"] == _versions(index, "lib")
    assert [seen.status for seen in server.requests] == [200, 304, 200]


def test_offline_takes_old_pages_and_asks_nobody(server: IndexServer, tmp_path: Path) -> None:
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    with _index(server, tmp_path) as index:
        assert index.files("absent") == ()
        _versions(index, "torch", "cu128")
    _age(tmp_path)
    asked = len(server.requests)
    with _index(server, tmp_path, offline=True) as index:
        assert _versions(index, "torch", "cu128") == ["2.11.0+cu128"]
        assert index.files("absent") == ()
        with pytest.raises(OutsideError, match="offline"):
            index.files("torch", variant="cu126")
    assert len(server.requests) == asked


def test_broken_cache_entries_are_loaded_again(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    with _index(server, tmp_path) as index:
        file = index.files("lib")[0]
        index.metadata(file)
    for path in [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]:
        head = path.read_bytes().partition(b"\n")[0]
        path.write_bytes(head + b"\n" + b'[["only-a-name"]]')
    with _index(server, tmp_path) as index:
        assert index.files("lib") == (file,)
        assert index.metadata(file).name == "lib"


def test_a_cache_that_cannot_be_written_only_costs_time(server: IndexServer, tmp_path: Path) -> None:
    server.add_package(StubWheel(name="lib", version="1.0"))
    (tmp_path / "cache").write_text("a file")
    with _index(server, tmp_path) as index:
        assert index.metadata(index.files("lib")[0]).name == "lib"
    assert server.count("/simple/lib/") == 1


def test_prefetch_asks_in_parallel_and_once(server: IndexServer, tmp_path: Path) -> None:
    names = [f"lib-{number}" for number in range(30)]
    for name in names:
        server.add_package(StubWheel(name=name, version="1.0"))
    server.fault("/simple/lib-7/", status=500)
    with _index(server, tmp_path) as index:
        index.prefetch(names)
        index.prefetch(names)
        for name in names:
            if name == "lib-7":
                with pytest.raises(OutsideError, match="500"):
                    index.files(name)
                continue
            [file] = index.files(name)
            index.prefetch_metadata([file])
            assert index.metadata(file).name == name
    assert (server.count("/simple/*"), server.count("*.metadata")) == (30, 29)


class Everything:
    """A guide to the last file of a page, and to all that a wheel names."""

    def file(self, name: str, files: Sequence[ReleaseFile]) -> ReleaseFile | None:
        return files[-1] if files else None

    def names(self, metadata: WheelMetadata) -> list[str]:
        return [requirement.name for requirement in metadata.requires]


def test_a_hint_is_followed_to_metadata_and_on_to_the_next_pages(server: IndexServer, tmp_path: Path) -> None:
    for name, requires in (("first", ("second",)), ("second", ("third",)), ("third", ("absent", "first"))):
        server.add_package(StubWheel(name=name, version="1.0", requires=requires))
    with _index(server, tmp_path) as index:
        index.look_ahead(Everything())
        index.prefetch(["first"])
        _wait_for(lambda: server.count("/simple/absent/") == 1)
        for name in ("first", "second", "third"):
            [file] = index.files(name)
            assert index.metadata(file).name == name
        assert index.files("absent") == ()
    assert (server.count("/simple/*"), server.count("*.metadata")) == (4, 3)


def test_a_large_wheel_is_not_read_on_a_guess(server: IndexServer, tmp_path: Path) -> None:
    server.ranges = False
    server.add_package(StubWheel(name="large", version="1.0", padding=3 << 20), metadata_file=False)
    server.add_package(StubWheel(name="small", version="1.0"), metadata_file=False)
    with _index(server, tmp_path) as index:
        index.look_ahead(Everything())
        index.prefetch(["large", "small"])
        assert [file.name for name in ("large", "small") for file in index.files(name)] == ["large", "small"]
        _wait_for(lambda: server.count("*/small-1.0-py3-none-any.whl") > 0)
    assert server.count("*/large-1.0-py3-none-any.whl") == 0


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_credentials_never_reach_what_is_given_back(server: IndexServer, tmp_path: Path) -> None:
    server.require_login("*", "user", "secret")
    server.add_package(StubWheel(name="lib", version="1.0"))
    server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=LINUX))
    login = server.base.replace("http://", "http://user:secret@")
    with _index(server, tmp_path, index=f"{login}/simple", mirror=f"{login}/whl") as index:
        files = [*index.files("lib"), *index.files("torch", variant="cu128")]
        metadata = [index.metadata(file) for file in files]
    assert len(metadata) == 2
    assert "secret" not in repr(files)
    cached = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert b"secret" not in cached


def _age(folder: Path, seconds: float = 1e9) -> None:
    for path in (folder / "cache").rglob("*"):
        if path.is_file():
            then = max(path.stat().st_mtime - seconds, 0)
            os.utime(path, (then, then))
