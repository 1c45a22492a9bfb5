"""Mirrors and folders on disk, read by path."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from envsolve.errors import OutsideError
from envsolve.index.local import page_links, path_of
from envsolve.index.package_index import PackageIndex, open_index
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel, stub_companion, stub_torch

LINUX = "cp312-cp312-manylinux_2_28_x86_64"


def _index(folder: Path, **settings: object) -> PackageIndex:
    fields = {"cache_dir": folder / "cache", "pytorch_index": "http://no-such-host.invalid/whl", "retries": 0}
    return open_index(Settings(**(fields | settings)), python="3.12", platform="linux_x86_64")  # type: ignore[arg-type]


def test_a_copy_of_the_index_with_root_relative_links(tmp_path: Path) -> None:
    """Pages say /whl/cu128/…; on disk that is meant from the folder above whl."""
    with IndexServer() as server:
        torch = stub_torch("2.11.0+cu128", tag=LINUX, requires=("lib",))
        server.add_wheel("cu128", torch)
        server.add_root(StubWheel(name="triton", version="3.6.0", tag=LINUX))
        server.add_package(StubWheel(name="lib", version="1.0"))
        server.write_tree(tmp_path / "copy of it")
    tree = tmp_path / "copy of it"
    with _index(tmp_path, mirror=(tree / "whl").as_uri()) as index:
        [file] = index.files("torch", variant="cu128")
        assert (file.folder, file.sha256, file.is_local) == ("cu128", torch.sha256, True)
        assert path_of(file.url).read_bytes() == torch.content
        assert [str(requirement) for requirement in index.metadata(file).requires] == ["lib"]
        assert [file.folder for file in index.files("triton", variant="cu128")] == [""]


def test_a_mirror_that_is_only_folders_of_wheels(tmp_path: Path) -> None:
    folder = tmp_path / "whl/cu128"
    folder.mkdir(parents=True)
    stub_torch("2.11.0+cu128", tag=LINUX).write(folder)
    stub_companion("torchvision", "0.26.0+cu128", torch="2.11.0", tag=LINUX).write(folder)
    with _index(tmp_path, mirror=(tmp_path / "whl").as_uri()) as index:
        assert [f.filename for f in index.files("torch", variant="cu128")] == [f"torch-2.11.0+cu128-{LINUX}.whl"]
        assert len(index.files("torchvision", variant="cu128")) == 1


def test_a_python_index_on_disk(tmp_path: Path) -> None:
    wheel = StubWheel(name="lib", version="1.0")
    (tmp_path / "files").mkdir()
    wheel.write(tmp_path / "files")
    page = tmp_path / "simple/lib/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        f'<a href="../../files/{wheel.filename}#sha256={wheel.sha256}">x</a>'
        '<a href="../../files/lib-2.0-py3-none-any.whl">gone</a>'
        '<a href="https://h.example/lib-3.0-py3-none-any.whl">on the web</a>'
    )
    with _index(tmp_path, index=(tmp_path / "simple").as_uri()) as index:
        assert [(str(file.version), file.is_local) for file in index.files("lib")] == [("1.0", True), ("3.0", False)]
        assert index.metadata(index.files("lib")[0]).name == "lib"
        assert index.files("unknown") == ()
        assert index.requests == 0


def test_a_folder_that_is_not_there_has_no_page(tmp_path: Path) -> None:
    assert page_links(tmp_path / "nothing") is None


def test_a_page_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<html>Please log in</html>")
    with pytest.raises(OutsideError, match="no index page"):
        page_links(tmp_path)


def test_two_runs_share_a_cache(tmp_path: Path) -> None:
    """Several runs that start at once with an empty cache all get the right answer."""
    wheels = [StubWheel(name=f"lib-{number}", version="1.0", requires=("a", "b")) for number in range(8)]
    with IndexServer() as server:
        for wheel in wheels:
            server.add_package(wheel)
        found: list[list[int]] = []

        def run() -> None:
            with _index(tmp_path, index=server.simple) as index:
                found.append([len(index.metadata(index.files(wheel.name)[0]).requires) for wheel in wheels])

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [[2] * 8] * 6
