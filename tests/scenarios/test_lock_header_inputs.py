"""`envsolve lock --check` and `--upgrade` without inputs: the lock's own header says what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LINUX, WINDOWS, LockWorld, lock_world, names

Output = pytest.CaptureFixture[str]
DEFAULT = "requirements.lock.txt"
FORMATS = (DEFAULT, "pylock.toml", "environment.yml")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.16")
        Path("requirements.in").write_text("torch\nsix\n")
        yield ready


def again(*words: str) -> int:
    """The command without requirements, targets or indexes."""
    return run(["lock", *words])


@pytest.mark.parametrize("name", FORMATS)
def test_check_asks_for_what_the_header_says(world: LockWorld, name: str, capsys: Output) -> None:
    assert world.lock("-r", "requirements.in", "-o", name) == 0
    assert again("-o", name, "--check", "--refresh") == 0
    Path("requirements.in").write_text("torch\nsix\nmarkupsafe\n")
    world.serve("markupsafe", "3.0")
    capsys.readouterr()
    assert again("-o", name, "--check", "--refresh") == 1
    said = capsys.readouterr()
    assert f"{name} no longer answers its inputs" in said.err
    assert "markupsafe" in said.out


@pytest.mark.parametrize("name", FORMATS)
def test_upgrade_takes_newer_versions_of_what_the_header_says(world: LockWorld, name: str) -> None:
    assert world.lock("-r", "requirements.in", "-o", name) == 0
    before = Path(name).read_text()
    world.serve("six", "1.17")
    assert again("-o", name, "--upgrade-package", "torch", "--refresh") == 0
    assert Path(name).read_text() == before  # the command in the header too
    assert again("-o", name, "--upgrade", "--refresh") == 0
    assert Path(name).read_text() == before.replace("six==1.16", "six==1.17") or "1.17" in Path(name).read_text()
    assert again("-o", name, "--check") == 0


def test_a_lock_of_several_targets(world: LockWorld) -> None:
    assert world.lock("-r", "requirements.in", targets=(LINUX, WINDOWS)) == 0
    assert again("--check", "--refresh") == 0
    world.serve("six", "1.17")
    assert again("--upgrade", "--refresh") == 0
    assert "six==1.17" in names(DEFAULT)
    assert Path(DEFAULT).read_text().count("# target: ") == 2


def test_a_folder_of_locks(world: LockWorld) -> None:
    other = LINUX.replace("RTX 5070 Ti", "RTX 5090")
    assert world.lock("-r", "requirements.in", "-o", "lockfiles/", targets=(LINUX, other)) == 0
    assert again("-o", "lockfiles/", "--check", "--refresh") == 0


def test_a_target_beside_it_asks_whether_the_lock_fits_that_machine(world: LockWorld, capsys: Output) -> None:
    assert world.lock("-r", "requirements.in") == 0
    assert again("--check", "--target", LINUX.replace("RTX 5070 Ti", "RTX 5090")) == 0
    assert again("--check", "--target", LINUX.replace("RTX 5070 Ti", "GTX 1080 Ti")) == 1


def test_a_lock_edited_by_hand_is_compared_with_what_its_header_says(world: LockWorld, capsys: Output) -> None:
    assert world.lock("-r", "requirements.in") == 0
    Path(DEFAULT).write_text(Path(DEFAULT).read_text() + "by hand\n")
    assert again("--check") == 1
    assert "-by hand" in capsys.readouterr().out


def test_without_inputs_and_without_a_lock_it_is_the_trio(world: LockWorld, capsys: Output) -> None:
    assert world.lock("--check") == 1
    assert "requirements.lock.txt is not there" in capsys.readouterr().err
