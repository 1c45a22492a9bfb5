"""The boundaries between the rooms: pure rooms stay pure, and every module can be imported alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import envsolve

PACKAGE = Path(envsolve.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = ("rulebook", "judge", "ways", "resolve", "lock", "keeping")
OUTSIDE = {"requests", "subprocess", "rich", "typer", "urllib3", "pynvml", "socket"}
# Data walks down this list and never back up.
ORDER = (
    "machine",
    "rulebook",
    "judge",
    "ways",
    "index",
    "resolve",
    "lock",
    "keeping",
    "environment",
    "verify",
    "doctor",
    "cli",
)


def imported(path: Path) -> set[str]:
    """The dotted names that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def in_rooms(*rooms: str) -> list[Path]:
    return [p for p in MODULES if p.relative_to(PACKAGE).parts[0] in rooms]


@pytest.mark.parametrize("path", in_rooms(*PURE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_pure_room_imports_nothing_that_touches_the_world(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & OUTSIDE


@pytest.mark.parametrize("path", in_rooms(*PURE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_pure_room_takes_only_types_from_the_index(path: Path) -> None:
    edges = [n for n in imported(path) if n.startswith(("envsolve.index", "envsolve.environment", "envsolve.verify"))]
    assert set(edges) <= {"envsolve.index.release"}


@pytest.mark.parametrize("path", in_rooms(*ORDER), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_data_never_walks_back_up(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0]
    later = ORDER[ORDER.index(room) + 1 :]
    up = {n for n in imported(path) if n.startswith("envsolve.") and n.split(".")[1] in later}
    assert not up


def test_only_the_command_line_prints_with_typer_or_rich() -> None:
    guilty = [p for p in MODULES if "cli" not in p.parts and {"typer", "rich"} & {n.split(".")[0] for n in imported(p)}]
    assert not guilty


def module_names() -> list[str]:
    names = []
    for path in MODULES:
        if "probes" in path.parts or path.name == "__main__.py":  # scripts for other interpreters; a start
            continue
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def test_every_module_can_be_imported_alone() -> None:
    """Each in a fresh set of modules, so that no import order is needed."""
    script = (
        "import importlib, sys\n"
        "keep = set(sys.modules)\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'envsolve']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *module_names()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_plain_plan_loads_neither_requests_nor_rich_nor_yaml() -> None:
    script = (
        "import sys, envsolve.cli.app as app\n"
        "app.run(['plan', '--target', 'RTX 4090,driver=550.54.14,python=3.11', '--json'])\n"
        "heavy = ('requests', 'rich', 'yaml', 'pydantic', 'resolvelib')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
