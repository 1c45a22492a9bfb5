"""Many small entries in one file of the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsolve.index.cache import FORMAT, Cache
from envsolve.index.shelf import Shelf


def _shelf(folder: Path, *, anew: bool = False) -> Shelf:
    return Shelf(Cache(folder), "metadata", "some", anew=anew)


def _put(folder: Path, **entries: object) -> None:
    shelf = _shelf(folder)
    for key, value in entries.items():
        shelf.put(key, value)
    shelf.save()


def test_what_was_put_is_there_at_once_and_later(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    assert shelf.get("a") is None
    shelf.put("a", [1])
    assert shelf.get("a") == [1]
    assert _shelf(tmp_path).get("a") is None
    shelf.save()
    assert _shelf(tmp_path).get("a") == [1]


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    shelf.get("a")
    shelf.save()
    assert not (tmp_path / FORMAT).exists()


def test_many_entries_are_one_file(tmp_path: Path) -> None:
    _put(tmp_path, **{f"k{number}": number for number in range(100)})
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_runs_side_by_side_keep_what_the_other_wrote(tmp_path: Path) -> None:
    one, two = _shelf(tmp_path), _shelf(tmp_path)
    for shelf, key in ((one, "a"), (two, "b")):
        shelf.get("c")
        shelf.put(key, key)
    one.save()
    two.save()
    assert [_shelf(tmp_path).get(key) for key in "ab"] == ["a", "b"]


def test_who_asks_anew_gets_nothing_and_takes_nothing_away(tmp_path: Path) -> None:
    _put(tmp_path, a=1, b=1)
    shelf = _shelf(tmp_path, anew=True)
    assert shelf.get("a") is None
    shelf.put("a", 2)
    shelf.save()
    assert [_shelf(tmp_path).get(key) for key in "ab"] == [2, 1]


def test_saved_twice_holds_both(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path)
    for key in "ab":
        shelf.put(key, key)
        shelf.save()
    assert [_shelf(tmp_path).get(key) for key in "ab"] == ["a", "b"]


def test_a_file_that_grew_keeps_what_its_last_run_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envsolve.index.shelf._MOST", 3)
    _put(tmp_path, a=1, b=1, c=1)
    shelf = _shelf(tmp_path)
    assert shelf.get("b") == 1
    shelf.put("d", 1)
    shelf.save()
    assert [_shelf(tmp_path).get(key) for key in "abcd"] == [None, 1, None, 1]


@pytest.mark.parametrize("broken", [b"", b"no json", b"[]", b"{}\n[1]"])
def test_a_broken_file_is_an_empty_one(tmp_path: Path, broken: bytes) -> None:
    _put(tmp_path, a=1)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(broken)
    assert _shelf(tmp_path).get("a") is None
    _put(tmp_path, a=2)
    assert _shelf(tmp_path).get("a") == 2
