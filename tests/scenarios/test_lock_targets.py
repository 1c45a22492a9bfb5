"""One lock for several targets: one file where markers can say it, else a folder; real clients take their own part."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.lock_world import LINUX, WINDOWS, LockWorld, lock_world, names, targets_here

DEFAULT = "requirements.lock.txt"
OTHER_LINUX = LINUX.replace("RTX 5070 Ti", "RTX 5090")
Output = pytest.CaptureFixture[str]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("colorama", "0.4.6")
        ready.serve("six", "1.17")
        ready.serve("tool", "1.0", requires=("colorama; sys_platform == 'win32'", "six"))
        yield ready


def test_markers_say_which_target_takes_what(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "tool", targets=(LINUX, WINDOWS)) == 0
    text = Path(DEFAULT).read_text()
    assert names(DEFAULT) == [
        "colorama==0.4.6", "six==1.17", "tool==1.0", "torch-2.11.0%2Bcu128", "torch-2.11.0%2Bcu128",
    ]  # fmt: skip
    assert "colorama==0.4.6 ; sys_platform == 'win32' and platform_machine == 'AMD64' \\" in text
    assert "six==1.17 \\" in text
    assert text.count("# target: ") == 2
    shown = capsys.readouterr().err.splitlines()
    assert [line.split(" packages")[0] for line in shown] == [f"wrote {DEFAULT}: 3", f"wrote {DEFAULT}: 4"]


def test_targets_that_markers_can_not_tell_apart_get_a_file_each(world: LockWorld) -> None:
    assert world.lock("torch", targets=(LINUX, OTHER_LINUX)) == 0
    assert sorted(path.name for path in Path("lockfiles").iterdir()) == [
        "rtx-5070-ti-linux-x86-64.txt",
        "rtx-5090-linux-x86-64.txt",
    ]
    assert not Path(DEFAULT).exists()


def test_a_file_that_can_not_hold_them_is_wrong_usage(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "-o", "a.txt", targets=(LINUX, OTHER_LINUX)) == 2
    assert "no marker tells these targets apart" in capsys.readouterr().err
    assert world.lock("torch", "-o", "environment.yml", targets=(LINUX, WINDOWS)) == 2
    assert "environment.yml holds one target only" in capsys.readouterr().err
    assert world.server.requests == []


def test_a_profile_names_its_file(world: LockWorld) -> None:
    from envsolve.cli.app import run

    assert run(["detect", "--target", LINUX, "-o", "My Laptop.json"]) == 0
    assert world.lock("torch", "-o", "locks/", targets=("My Laptop.json",)) == 0
    assert [path.name for path in Path("locks").iterdir()] == ["my-laptop.txt"]


def test_the_same_inputs_give_the_same_bytes_in_any_run(world: LockWorld) -> None:
    outputs = ("-o", "a.txt", "-o", "pylock.toml")
    assert world.lock("torch", "tool", *outputs, targets=(LINUX, WINDOWS)) == 0
    first = [Path(name).read_bytes() for name in ("a.txt", "pylock.toml")]
    assert world.lock("torch", "tool", *outputs, "--refresh", targets=(LINUX, WINDOWS)) == 0
    assert [Path(name).read_bytes() for name in ("a.txt", "pylock.toml")] == first


def test_check_and_kept_versions_of_several_targets(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "tool", targets=(LINUX, WINDOWS)) == 0
    world.serve("six", "1.18")
    assert world.lock("torch", "tool", "--refresh", "--check", targets=(LINUX, WINDOWS)) == 0
    assert world.lock("torch", "tool", "six>1.17", "--refresh", "--check", targets=(LINUX, WINDOWS)) == 1
    assert "+six==1.18 \\" in capsys.readouterr().out
    assert world.lock("torch", "tool", "--check", targets=(LINUX,)) == 1
    assert world.lock("torch", "tool", targets=(LINUX, WINDOWS)) == 0
    assert "six==1.17" in names(DEFAULT)
    assert world.lock("torch", "tool", "--upgrade-package", "six", targets=(LINUX, WINDOWS)) == 0
    assert "six==1.18" in names(DEFAULT)


def test_json_has_each_target(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "tool", "--json", targets=(LINUX, WINDOWS)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["status"]) == (1, "solved")
    assert [(t["target"], len(t["lock"]["packages"])) for t in found["targets"]] == [(LINUX, 3), (WINDOWS, 4)]


def test_nothing_is_written_when_one_target_has_no_answer(world: LockWorld, capsys: Output) -> None:
    old = "GTX 1080 Ti,driver=580.65.06,python=3.12,os=windows,arch=x86_64"
    assert world.lock("torch==2.11.0+cu128", targets=(LINUX, old)) == 1
    assert "no lock for GTX 1080 Ti" in capsys.readouterr().err
    assert not Path(DEFAULT).exists()


@pytest.mark.slow
@pytest.mark.parametrize("lock_file", ["a.txt", "pylock.toml"])
def test_uv_takes_what_is_for_its_platform(world: LockWorld, lock_file: str) -> None:
    assert world.lock("torch", "tool", "-o", lock_file, targets=targets_here(world)) == 0
    uv = Path(sys.executable).with_name("uv")
    hashed = ["--require-hashes"] if lock_file == "a.txt" else []
    for platform, tag in (("x86_64-manylinux_2_28", "manylinux_2_28_x86_64"), ("x86_64-pc-windows-msvc", "win_amd64")):
        done = subprocess.run(
            [uv, "pip", "install", "--dry-run", "--target", f"into-{tag}", "--python-platform", platform, "--python",
             sys.executable, "--default-index", world.server.simple, *hashed, "-r", lock_file],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("colorama==0.4.6" in done.stderr) is (tag == "win_amd64")
        assert "six==1.17" in done.stderr and " + torch" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lock_file", ["a.txt", "pylock.toml"])
def test_pip_takes_what_is_for_its_platform(world: LockWorld, lock_file: str, tmp_path: Path) -> None:
    assert world.lock("torch", "tool", "-o", lock_file, targets=targets_here(world)) == 0
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh"], check=True)
    hashed = ["--require-hashes"] if lock_file == "a.txt" else []
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", tmp_path / "fresh/bin/python", "install", "--index-url",
         world.server.simple, *hashed, "-r", lock_file],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Successfully installed six-1.17 tool-1.0 torch-2.11.0+cu128" in done.stdout


@pytest.mark.slow
def test_pip_sync_takes_what_is_for_its_platform(world: LockWorld, tmp_path: Path) -> None:
    assert world.lock("torch", "tool", "-o", "a.txt", targets=targets_here(world)) == 0
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True)
    tool, python = Path(sys.executable).with_name("pip-sync"), tmp_path / "fresh/bin/python"
    done = subprocess.run(
        [tool, "--python-executable", python, "--index-url", world.server.simple, "a.txt"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    listed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    assert "torch" in listed and "six" in listed and "colorama" not in listed
