"""The cache: whole entries, parallel writers, broken files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envsolve.index.cache import Cache


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.read("page", "https://h.example/x/") is None
    cache.write("page", "https://h.example/x/", {"stamp": "1"}, [["ä", None, 3]])
    entry = cache.read("page", "https://h.example/x/")
    assert entry is not None and entry.head["stamp"] == "1" and entry.body == [["ä", None, 3]] and entry.age < 60
    head = cache.read("page", "https://h.example/x/", body=False)
    assert head is not None and head.body is None
    assert cache.read("view", "https://h.example/x/") is None


def test_age_counts_from_the_last_check(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("page", "k", {}, [])
    [path] = _files(tmp_path)
    os.utime(path, (0, 0))
    old = cache.read("page", "k")
    assert old is not None and old.age > 1e6
    cache.touch("page", "k")
    new = cache.read("page", "k")
    assert new is not None and new.age < 60


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.binary(max_size=60))
def test_a_broken_entry_is_dropped_without_a_word(tmp_path: Path, rubbish: bytes) -> None:
    cache = Cache(tmp_path)
    cache.write("page", "k", {}, [1])
    [path] = _files(tmp_path)
    path.write_bytes(rubbish)
    assert cache.read("page", "k") is None
    assert not path.exists()


def test_a_cut_entry_is_dropped(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("page", "k", {}, list(range(100)))
    [path] = _files(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert cache.read("page", "k") is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file")
    cache.write("page", "k", {}, [])
    cache.touch("page", "k")
    assert cache.read("page", "k") is None


_WRITER = """
import sys
from pathlib import Path
from envsolve.index.cache import Cache
cache = Cache(Path(sys.argv[1]))
for round in range(60):
    for key in ("a", "b"):
        cache.write("page", key, {"by": sys.argv[2]}, [sys.argv[2]] * 500)
        entry = cache.read("page", key)
        assert entry is not None, "an entry was missing while others wrote"
        assert entry.body == [entry.head["by"]] * 500, "a mixed entry"
"""


def test_parallel_writers_never_leave_a_mixed_entry(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), name], stderr=subprocess.PIPE)
        for name in ("one", "two", "three")
    ]
    errors = [writer.communicate()[1].decode() for writer in writers]
    assert errors == ["", "", ""]
    assert len(_files(tmp_path)) == 2  # no parts are left behind


def test_keys_do_not_collide_quietly(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("page", "k", {}, [])
    [path] = _files(tmp_path)
    head, _, body = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(head), "key": "other"}).encode() + b"\n" + body)
    assert cache.read("page", "k") is None
