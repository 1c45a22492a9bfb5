"""What happens to locks that several people keep: conflicts, mistaken names, files that nobody asked of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LINUX, LockWorld, lock_world, names

DEFAULT = Path("requirements.lock.txt")
UNRESOLVED = "a merge conflict is not resolved"
Output = pytest.CaptureFixture[str]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.16", "1.17")
        yield ready


def conflict(path: Path) -> int:
    """Leave both sides of a merge in a file; the line of the first mark."""
    lines = path.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("six"))
    lines[at:at] = ["<<<<<<< HEAD", "six==1.16", "=======", "six==1.17", ">>>>>>> other"]
    path.write_text("\n".join(lines))
    return at + 1


@pytest.mark.parametrize("name", ["requirements.lock.txt", "pylock.toml"])
def test_a_merge_conflict_in_a_lock_is_named(world: LockWorld, capsys: Output, name: str) -> None:
    assert world.lock("torch", "six", "-o", name) == 0
    path = Path(name)
    at = conflict(DEFAULT) if name.endswith(".txt") else 1
    if name.endswith(".toml"):
        path.write_text("<<<<<<< HEAD\n" + path.read_text() + "=======\n>>>>>>> other\n")
    for command in (["install", "--lock", name, "--name", "x"], ["plan", "--from", name, "--target", LINUX]):
        assert run(command) == 2
        shown = capsys.readouterr().err
        assert f"{name}:{at}: {UNRESOLVED}" in shown and "hint: take one side" in shown


def test_a_lock_with_a_conflict_is_made_anew_and_that_its_versions_go_is_said(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "six<1.17") == 0
    at = conflict(DEFAULT)
    assert world.lock("torch", "six") == 0
    assert names(DEFAULT)[0] == "six==1.17"
    assert f"note: {DEFAULT}:{at}: {UNRESOLVED}; no version of it is kept" in capsys.readouterr().err


def test_a_conflict_in_what_is_asked_for(world: LockWorld, capsys: Output) -> None:
    Path("requirements.in").write_text("torch\n<<<<<<< a\nsix\n=======\nsix<2\n>>>>>>> b\n")
    assert world.lock("-r", "requirements.in") == 2
    assert capsys.readouterr().err.startswith(f"error: requirements.in:2: {UNRESOLVED}\n")


def test_a_lock_never_takes_the_place_of_what_it_is_made_from(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "six", "-o", "requirements.txt") == 0
    before = Path("requirements.txt").read_bytes()
    Path("sub").mkdir()
    assert world.lock("-r", "requirements.txt", "-o", "sub/../requirements.txt") == 2
    assert capsys.readouterr().err.endswith(
        "error: sub/../requirements.txt is what the lock is made from\n"
        "hint: give another name with -o: -o requirements.lock.txt\n"
    )
    assert Path("requirements.txt").read_bytes() == before


def test_a_folder_that_is_not_there_is_said_before_anything_is_asked(world: LockWorld, capsys: Output) -> None:
    world.server.fault("/*", status=503)
    assert world.lock("torch", "-o", "absent folder/a.txt") == 2
    assert capsys.readouterr().err == (
        "error: there is no folder absent folder to write a.txt into\nhint: mkdir -p 'absent folder'\n"
    )


def test_an_upgrade_of_what_is_not_there_is_noted(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "six", "--upgrade-package", "sixx") == 0
    assert "note: the lock holds no sixx" in capsys.readouterr().err


def test_a_file_that_asks_for_nothing_is_noted(world: LockWorld, capsys: Output) -> None:
    Path("requirements.in").write_text("# nothing yet\n")
    assert world.lock("-r", "requirements.in") == 0
    assert "note: requirements.in asks for nothing: torch, torchvision and torchaudio are" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("-r requirements.in", "requirements.in:1: requirements.in includes itself", "take that line out"),
        ("-r absent.in", "requirements.in:1: can't read absent.in: No such file or directory", "looked for beside"),
        ("-c .", "requirements.in:1: can't read .: Is a directory", "pyproject.toml"),
    ],
)
def test_files_that_name_files(world: LockWorld, capsys: Output, line: str, message: str, hint: str) -> None:
    Path("requirements.in").write_text(line)
    assert world.lock("-r", "requirements.in") == 2
    error, hinted = capsys.readouterr().err.splitlines()
    assert error == f"error: {message}" and hinted.startswith("hint: ") and hint in hinted
