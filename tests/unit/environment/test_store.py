"""Slots, drafts, pointers, markers and holds."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.environment.hold import try_hold
from envsolve.environment.home import data_home
from envsolve.environment.marker import MARKER, Marker, Stage, read_marker, write_marker
from envsolve.environment.pointer import Link, Record, write_atomically
from envsolve.environment.proof import Proof
from envsolve.environment.store import Slot, Store, check_name, project_slot
from envsolve.environment.tree import remove_tree
from envsolve.errors import InputError, OutsideError, RefusedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names are links")


def marker(name: str = "x", stage: Stage = "verified") -> Marker:
    return Marker(
        name=name,
        stage=stage,
        python="3.11.7",
        platform="linux_x86_64",
        variant="cpu",
        torch="2.11.0+cpu",
        lock_sha256="0" * 64,
        made_by="envsolve test",
    )


@pytest.fixture
def slot(tmp_path: Path) -> Slot:
    return Store(tmp_path / "store").slot("x")


def make(slot: Slot, *, stage: Stage = "verified", publish: bool = True, keep: bool = True) -> Path:
    with slot.new_build() as draft:
        draft.path.mkdir()
        write_marker(draft.path, marker(slot.name, stage))
        if publish:
            slot.pointer.point_to(draft.path)
        draft.kept = keep
    return draft.path


@given(st.text(max_size=80))
def test_a_name_never_leaves_its_folder(name: str) -> None:
    try:
        check_name(name)
    except InputError:
        return
    assert Path("base", name).parent == Path("base") and Path("base", name).name == name
    assert name.isascii() and not name.startswith((".", "-")) and len(name) <= 64


@pytest.mark.parametrize("name", ["a", "pytorch_new", "cu126.v2", "A-1", "x" * 64])
def test_usual_names_are_names(name: str) -> None:
    assert check_name(name) == name


def test_a_draft_that_is_not_kept_goes(slot: Slot) -> None:
    build = make(slot, publish=False, keep=False)
    assert not build.exists() and not slot.lock_of(build).exists()


def test_a_draft_goes_when_its_block_fails(slot: Slot) -> None:
    with pytest.raises(KeyboardInterrupt), slot.new_build() as draft:
        draft.path.mkdir()
        raise KeyboardInterrupt
    assert slot.own_builds() == ()


def test_the_pointer_leads_to_the_last_published(slot: Slot) -> None:
    first, second = make(slot), make(slot)
    assert first != second and slot.current() == second
    assert slot.sweep() == (first,)
    assert slot.own_builds() == (second,)


def test_a_sweep_keeps_what_is_held_named_or_asked_for(slot: Slot) -> None:
    current = make(slot)
    failed = make(slot, stage="failed", publish=False)
    orphan = make(slot, stage="building", publish=False)
    held = try_hold(slot.lock_of(orphan))
    assert held is not None
    assert slot.sweep(keep=slot.failed()) == ()
    os.close(held)
    assert slot.sweep(keep=slot.failed()) == (orphan,)
    assert set(slot.own_builds()) == {current, failed}


def test_a_sweep_never_takes_another_names_builds(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ours, theirs = store.slot("a"), store.slot("a-0123abcd")
    make(ours, publish=False)
    kept = make(theirs, publish=False)
    ours.sweep()
    assert theirs.own_builds() == (kept,)


def test_a_half_removed_build_is_swept(slot: Slot) -> None:
    build = make(slot, publish=False)
    build.rename(build.with_name(f"{build.name}.removed-01234567"))
    slot.sweep()
    assert list(slot.builds.iterdir()) == []


def test_remove_takes_the_failed_ones_along(slot: Slot) -> None:
    make(slot)
    make(slot, stage="failed", publish=False)
    assert len(slot.remove()) == 2
    assert slot.own_builds() == () and slot.pointer.target() is None
    with pytest.raises(InputError):
        slot.remove()


def test_remove_refuses_while_held_and_keeps_all(slot: Slot) -> None:
    build = make(slot)
    running = try_hold(slot.lock_of(build), shared=True)
    assert running is not None
    with pytest.raises(RefusedError):
        slot.remove()
    os.close(running)
    assert slot.current() == build


def test_shared_holds_stand_beside_each_other(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    one, two = try_hold(lock, shared=True), try_hold(lock, shared=True)
    assert one is not None and two is not None
    assert try_hold(lock) is None
    os.close(one)
    os.close(two)
    alone = try_hold(lock)
    assert alone is not None and try_hold(lock, shared=True) is None
    os.close(alone)


def test_an_environment_that_failed_later_is_not_one_kept_aside(slot: Slot) -> None:
    make(slot, stage="failed")
    assert slot.failed() == () and slot.current() is not None


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutsideError), Store(tmp_path / "file" / "home").slot("x").new_build():
        pass


def test_names_list_what_leads_somewhere_and_what_failed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    make(store.slot("good"))
    make(store.slot("bad"), stage="failed", publish=False)
    make(store.slot("half"), stage="building", publish=False)
    assert store.names() == ("bad", "good")


def test_a_store_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Store(tmp_path / "no").names() == ()


def test_a_link_to_somewhere_else_is_not_ours(slot: Slot, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    slot.pointer.shown().parent.mkdir(parents=True)
    slot.pointer.shown().symlink_to(tmp_path / "precious")
    with pytest.raises(InputError):
        slot.check_ours()
    assert slot.current() is None


def test_a_dangling_link_of_ours_is_free(slot: Slot) -> None:
    remove_tree(make(slot))
    slot.check_ours()
    assert slot.current() is None


@pytest.mark.parametrize("kind", [Link, Record])
def test_pointers_swap(tmp_path: Path, kind: type[Link] | type[Record]) -> None:
    pointer = kind(path=tmp_path / "names" / "x")
    assert pointer.target() is None
    pointer.drop()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        pointer.point_to(tmp_path / name)
        assert pointer.target() == tmp_path / name
    pointer.drop()
    assert pointer.target() is None and (tmp_path / "two").is_dir()
    assert list((tmp_path / "names").iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"build": 3}', '{"other": "x"}'])
def test_a_record_that_is_damaged_leads_nowhere(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    assert Record(path=tmp_path / "x.json").target() is None


def test_a_failed_write_keeps_the_old_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_markers_come_back_as_they_were(tmp_path: Path) -> None:
    proof = Proof(verified=False, failed=("driver",), report={"checks": [], "verified": False})
    written = marker().with_proof(proof)
    write_marker(tmp_path, written)
    assert read_marker(tmp_path) == written
    assert written.stage == "failed"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1, "name": "x"}', "\x00"])
def test_a_folder_with_a_foreign_marker_is_not_ours(tmp_path: Path, text: str) -> None:
    (tmp_path / MARKER).write_text(text)
    assert read_marker(tmp_path) is None


def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    write_marker(tmp_path, marker())
    fields = json.loads((tmp_path / MARKER).read_text())
    (tmp_path / MARKER).write_text(json.dumps({**fields, "schema": 99}))
    assert read_marker(tmp_path) is None


def test_the_home_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENVSOLVE_HOME", f"{tmp_path}/a/../b/")
    assert data_home() == tmp_path / "b"
    monkeypatch.setenv("ENVSOLVE_HOME", "relative")
    with pytest.raises(InputError):
        data_home()
    monkeypatch.delenv("ENVSOLVE_HOME")
    assert data_home().name == "envsolve" and data_home().is_absolute()


@pytest.mark.parametrize("folder", ["/", "/no/such/parent/.venv"])
def test_a_project_needs_a_parent(folder: str) -> None:
    with pytest.raises(InputError):
        project_slot(Path(folder))


def test_a_name_is_one_runs_at_a_time(slot: Slot) -> None:
    """The second one says that it waits, and goes on when the first is done."""
    said: list[str] = []
    second = threading.Event()

    def later() -> None:
        with slot.alone(said.append):
            second.set()

    with slot.alone(said.append):
        thread = threading.Thread(target=later)
        thread.start()
        while not said:
            thread.join(0.01)
        assert "another envsolve is working on 'x'" in said[0] and not second.is_set()
    thread.join(10)
    assert second.is_set()


def test_a_lock_that_cant_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutsideError, match="can't make the lock"):
        try_hold(tmp_path / "file" / "x.lock")


def test_a_draft_that_fails_leaves_no_lock_either(slot: Slot) -> None:
    with pytest.raises(OutsideError), slot.new_build() as draft:
        draft.path.mkdir()
        raise OutsideError("no network")
    assert slot.own_builds() == () and not slot.lock_of(draft.path).exists()


@pytest.mark.parametrize(("folder", "hint"), [("/", "--path .venv"), ("/no where/x/.venv", "mkdir -p '/no where/x'")])
def test_a_path_that_cant_be_one_has_a_hint_that_helps(folder: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        project_slot(Path(folder))
    assert caught.value.hint == hint
