"""The pure parts of the doctor touch neither processes nor the network."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import envsolve.doctor

FOLDER = Path(envsolve.doctor.__file__).parent
EDGE = {
    "look.py", "look_base.py", "look_child.py", "look_files.py", "look_held.py", "look_place.py", "look_strays.py",
    "look_whole.py", "facts.py",
}  # fmt: skip
PURE = [p for p in FOLDER.rglob("*.py") if p.name not in EDGE and p.parent.name != "probes"]
OUTSIDE = {"requests", "subprocess", "socket", "urllib", "rich", "typer", "pynvml", "os", "shutil"}


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_pure_file_touches_nothing(path: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    assert not names & OUTSIDE


def test_every_cause_is_in_the_order_once() -> None:
    from envsolve.doctor.diagnose import CAUSES

    assert len(set(CAUSES)) == len(CAUSES)
