"""The story of an installation: whatever is built from this checkout carries the rules, and reads them."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "rules"

pytestmark = pytest.mark.slow


def build(kind: str, source: Path, out: Path) -> Path:
    """Build one archive without isolation: the build backend is part of the test extra."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(out.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def rules_of_the_checkout() -> dict[str, bytes]:
    """Every rules file but the notes for people."""
    files = (path for path in RULES.rglob("*") if path.is_file() and path.suffix != ".md")
    return {path.relative_to(RULES).as_posix(): path.read_bytes() for path in files}


def rules_in(wheel: Path) -> dict[str, bytes]:
    prefix = "envsolve/_rules/"
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(prefix)]
        return {name.removeprefix(prefix): archive.read(name) for name in names}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


def test_the_wheel_carries_exactly_the_rules_of_the_checkout(wheel: Path) -> None:
    carried = rules_in(wheel)
    assert carried == rules_of_the_checkout()
    assert "compiled/core.json" in carried
    assert "torch/wheels.tsv.xz" in carried


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"envsolve"}
    assert "envsolve/rulebook/rulebook.py" in names
    assert not [name for name in names if name.startswith("envsolve/_rules/") and name.endswith((".py", ".md"))]


def test_an_installed_wheel_reads_its_own_rules(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "from envsolve.rulebook.load import load, rules_dir; from envsolve.rulebook.wheels import load_wheels;"
        "print(rules_dir()); print(len(load().builds), len(load_wheels().lines) > 8000)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    folder, counts = done.stdout.splitlines()
    assert Path(folder) == (tmp_path / "envsolve/_rules").resolve()
    assert counts.endswith("True") and int(counts.split()[0]) > 500


def test_an_sdist_turns_into_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    unpacked = next((tmp_path / "source").iterdir())
    assert (unpacked / "rules/README.md").is_file()
    assert (unpacked / "tests/scenarios/test_packaging.py").is_file()
    again = build("wheel", unpacked, tmp_path / "out")
    assert rules_in(again) == rules_in(wheel)
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(wheel) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
