"""Snippets for other tools; uv's own is given to uv with the fake index."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LINUX, WINDOWS, LockWorld, lock_world, targets_here
from fakes.stub_wheels import StubWheel

Output = pytest.CaptureFixture[str]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.17")
        yield ready


def snippet(
    world: LockWorld, capsys: Output, tool: str, *words: str, targets: tuple[str, ...] = (LINUX,)
) -> dict[str, Any]:
    assert world.lock(*words, "--snippet", tool, targets=targets) == 0
    assert not list(Path().glob("*.txt"))
    return tomllib.loads(capsys.readouterr().out)


def test_uv(world: LockWorld, capsys: Output) -> None:
    assert snippet(world, capsys, "uv", "torch", "six") == {
        "tool": {
            "uv": {
                "environments": ["sys_platform == 'linux' and platform_machine == 'x86_64'"],
                "constraint-dependencies": ["torch==2.11.0+cu128"],
                "sources": {"torch": {"index": "pytorch-cu128"}},
                "index": [{"name": "pytorch-cu128", "url": f"{world.server.whl}/cu128", "explicit": True}],
            }
        }
    }


def test_uv_for_two_targets_has_markers(world: LockWorld, capsys: Output) -> None:
    windows = WINDOWS + ",cuda=12.6"
    found = snippet(world, capsys, "uv", "torch", targets=(LINUX, windows))["tool"]["uv"]
    assert len(found["environments"]) == 2
    assert [source["marker"] for source in found["sources"]["torch"]] == found["environments"]


def test_the_text_reads_as_people_write_it(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "--snippet", "uv") == 0
    text = capsys.readouterr().out
    assert text.startswith("# for pyproject.toml\n# made by envsolve ")
    assert '\n[tool.uv.sources]\ntorch = { index = "pytorch-cu128" }\n' in text
    assert '\n[[tool.uv.index]]\nname = "pytorch-cu128"\n' in text


def test_pixi(world: LockWorld, capsys: Output) -> None:
    assert snippet(world, capsys, "pixi", "torch", "six") == {
        "dependencies": {"python": "3.12.*"},
        "system-requirements": {"cuda": "12.8", "libc": "2.35"},
        "pypi-dependencies": {"torch": {"version": "==2.11.0+cu128", "index": f"{world.server.whl}/cu128"}},
    }
    both = snippet(world, capsys, "pixi", "torch", targets=(LINUX, WINDOWS))
    assert list(both["target"]) == ["linux-64", "win-64"]


def test_poetry(world: LockWorld, capsys: Output) -> None:
    assert snippet(world, capsys, "poetry", "torch", "six") == {
        "tool": {
            "poetry": {
                "dependencies": {"python": "~3.12", "torch": {"version": "2.11.0+cu128", "source": "pytorch-cu128"}},
                "source": [{"name": "pytorch-cu128", "url": f"{world.server.whl}/cu128", "priority": "explicit"}],
            }
        }
    }


def test_another_tool_is_wrong_usage(world: LockWorld, capsys: Output) -> None:
    assert world.lock("torch", "--snippet", "pdm") == 2
    assert "'uv', 'pixi', 'poetry'" in capsys.readouterr().err


@pytest.mark.slow
def test_uv_takes_its_snippet(world: LockWorld, capsys: Output, tmp_path: Path) -> None:
    """uv locks a project with the snippet: torch from the variant's index, though the default one has a higher."""
    here, _ = targets_here(world)
    world.server.add_package(StubWheel(name="torch", version="99.0", tag="py3-none-any"))
    assert world.lock("torch", "six", "--snippet", "uv", targets=(here,)) == 0
    text = capsys.readouterr().out
    python = f"==3.{sys.version_info.minor}.*"
    project = f'[project]\nname = "app"\nversion = "1"\nrequires-python = "{python}"\ndependencies = ["torch", "six"]\n'
    Path("pyproject.toml").write_text(f"{project}\n{text}")
    uv = Path(sys.executable).with_name("uv")
    done = subprocess.run(
        [uv, "lock", "--default-index", world.server.simple, "--python", sys.executable],
        capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    locked = {p["name"]: p for p in tomllib.loads(Path("uv.lock").read_text())["package"]}
    assert (locked["torch"]["version"], locked["six"]["version"]) == ("2.11.0+cu128", "1.17")
    assert locked["torch"]["source"] == {"registry": f"{world.server.whl}/cu128"}
    # and what uv wrote can be asked about in turn
    assert run(["plan", "--from", "uv.lock", "--target", here]) == 0
    assert run(["plan", "--from", "uv.lock", "--target", here.replace("RTX 5070 Ti", "GTX 1080 Ti")]) == 1
