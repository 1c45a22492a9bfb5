"""The cache as a folder: what is in it, by kind, and that only envsolve's own files are taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.index.cache import Cache
from envsolve.index.cache_folder import CacheFolder


def _filled(folder: Path) -> CacheFolder:
    cache = Cache(folder)
    cache.write("page", "https://h.example/a/", {"stamp": "1"}, b"x" * 100)
    cache.write("page", "https://h.example/b/", {"stamp": "1"}, b"y" * 100)
    cache.write("metadata", "wheel a", {}, {"requires": []})
    wheel = folder / "wheels" / ("ab" * 32) / "a-1.0-py3-none-any.whl"
    wheel.parent.mkdir(parents=True)
    wheel.write_bytes(b"w" * 1000)
    old = folder / "index-1" / "page" / "ab" / ("c" * 38)
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    return CacheFolder(folder)


def test_kinds_are_counted(tmp_path: Path) -> None:
    kinds = {kind.name: kind for kind in _filled(tmp_path / "cache").kinds()}
    assert {name: kind.files for name, kind in kinds.items()} == {"page": 2, "metadata": 1, "wheels": 1, "older": 1}
    assert kinds["wheels"].size == 1000 and kinds["page"].size > 200 and kinds["older"].size == 3


def test_clear_takes_all_of_its_own_and_the_empty_folders(tmp_path: Path) -> None:
    folder = _filled(tmp_path / "cache")
    removed = folder.clear()
    assert removed.files == 5 and removed.size > 1200
    assert folder.kinds() == [] and list(folder.path.iterdir()) == []
    assert folder.clear().files == 0


def test_clear_leaves_what_others_put_there(tmp_path: Path) -> None:
    folder = _filled(tmp_path / "cache")
    mine = [
        "notes.txt", "index-2/notes.txt", "index-2/page/notes.txt", "index-2/page/ab/notes.txt",
        f"index-2/photos/ab/{'c' * 38}", "wheels/mine-1.0-py3-none-any.whl", "wheels/house/a.whl",
        "virtualenv/wheel/pip.whl", "conda/pkgs/a.conda", "index/page/ab/" + "c" * 38,
    ]  # fmt: skip
    for name in mine:
        path = folder.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ("d" * 38)).write_text("mine")
    (folder.path / "index-2" / "page" / "cd").symlink_to(elsewhere)
    assert folder.clear().files == 5
    assert all((folder.path / name).read_text() == "mine" for name in mine)
    assert (elsewhere / ("d" * 38)).read_text() == "mine"


def test_in_envsolves_own_folder_everything_that_its_tools_keep_goes(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "envsolve")
    for name in ("virtualenv/wheel/pip.whl", "conda/pkgs/a.conda"):
        path = folder.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert [kind.name for kind in folder.kinds()] == ["conda", "virtualenv"]
    assert folder.clear().files == 2 and list(folder.path.iterdir()) == []


def test_a_cache_that_is_not_there_is_empty(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "nothing")
    assert folder.kinds() == [] and folder.clear().files == 0 and not folder.path.exists()


def test_the_command_shows_and_clears(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cache"
    _filled(folder)
    assert run(["cache", "info", "--json", "--cache-dir", str(folder)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == 1 and told["path"] == str(folder) and told["files"] == 5
    assert sum(kind["bytes"] for kind in told["kinds"]) == told["bytes"]
    assert run(["cache", "info", "--cache-dir", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == str(folder) and "wheels, whole and in part" in out and "1.0 kB" in out
    assert run(["cache", "clear", "--json", "--cache-dir", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == 5
    assert run(["cache", "clear", "--cache-dir", str(folder)]) == 0
    assert "removed 0 files" in capsys.readouterr().err
