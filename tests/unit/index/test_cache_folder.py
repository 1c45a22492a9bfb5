"""The cache as a folder: what is in it, by kind, and that only envsolve's own files are taken away."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from filelock import FileLock

from envsolve.cli.app import run
from envsolve.index.cache import FORMAT, Cache
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
        "notes.txt", f"{FORMAT}/notes.txt", "index-2/page/notes.txt", "index-2/page/ab/notes.txt",
        f"{FORMAT}/photos/ab/{'c' * 38}", "wheels/mine-1.0-py3-none-any.whl", "wheels/house/a.whl",
        "virtualenv/wheel/pip.whl", "conda/pkgs/a.conda", "index/page/ab/" + "c" * 38,
    ]  # fmt: skip
    for name in mine:
        path = folder.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ("d" * 38)).write_text("mine")
    (folder.path / FORMAT / "page" / "cd").symlink_to(elsewhere)
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


DAY = 86_400


def _aged(path: Path, days: float) -> Path:
    """The file as if it was last used so many days ago; its folder as well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(b"x" * 10)
    for one in (path, path.parent):
        os.utime(one, (NOW - days * DAY, NOW - days * DAY))
    return path


NOW = 1_800_000_000.0


def test_prune_takes_what_lies_unused(tmp_path: Path) -> None:
    folder = _filled(tmp_path / "cache")
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    for path in files:
        _aged(path, 40)
    kept = _aged(folder.path / "wheels" / ("cd" * 32) / "b-1.0-py3-none-any.whl", 40)
    os.utime(kept.parent, (NOW - DAY, NOW - DAY))  # an install has used it
    read = _aged(folder.path / FORMAT / "page" / "ab" / ("e" * 38), 40)
    os.utime(read, (NOW - DAY, NOW - 40 * DAY))
    assert folder.prune(60, now=NOW).files == 0
    assert folder.prune(30, now=NOW).files == len(files)
    assert kept.exists() and read.exists()
    assert folder.prune(1, now=NOW).files == 2 and list(folder.path.iterdir()) == []


def test_prune_leaves_a_download_of_the_last_day(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "cache")
    old = _aged(folder.path / "wheels" / f"{'a' * 64}.part", 3)
    fresh = _aged(folder.path / "wheels" / f"{'b' * 64}.part", 0.9)
    assert folder.prune(0.1, now=NOW).files == 1
    assert fresh.exists() and not old.exists()
    assert folder.kinds()[0].name == "wheels"
    folder.clear()
    assert not folder.path.joinpath("wheels").exists()


def test_a_download_under_way_is_left_alone(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "cache")
    part = _aged(folder.path / "wheels" / f"{'a' * 64}.part", 3)
    with FileLock(part.with_suffix(".lock")):
        assert folder.prune(1, now=NOW).files == 0 and folder.clear().files == 0
        assert part.exists()
    assert folder.clear().files >= 1 and not part.exists()


def test_prune_leaves_what_only_counts_as_a_whole(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path / "envsolve")
    unpacked = _aged(folder.path / "conda/pkgs/python-3.12/bin/python", 400)
    assert folder.prune(30, now=NOW).files == 0 and unpacked.exists()


def test_the_command_prunes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cache"
    for path in [path for path in _filled(folder).path.rglob("*") if path.is_file()]:
        os.utime(path, (NOW - 3000 * DAY, NOW - 3000 * DAY))
        os.utime(path.parent, (NOW - 3000 * DAY, NOW - 3000 * DAY))
    assert run(["cache", "prune", "--days", "0", "--cache-dir", str(folder)]) == 2
    assert run(["cache", "prune", "--json", "--cache-dir", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == 5
