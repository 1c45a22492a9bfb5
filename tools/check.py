#!/usr/bin/env python3
"""Set up a virtual environment in .venv and run every check: lint, format, types, all tests.

    python3 tools/check.py [PYTEST ARGUMENTS...]

Needs only Python 3.11 or newer and a Python index that pip is configured for. Stops at the first check that fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")


def run(*command: str | Path) -> None:
    """Run one command in the checkout with the environment's programs first on PATH; exit with its code if it fails."""
    print("+", *(str(part).replace(str(ROOT) + os.sep, "") for part in command), flush=True)
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, "PATH": path})
    if done.returncode:
        sys.exit(done.returncode)


def main(arguments: list[str]) -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - this script is what an older Python is started with
        sys.exit("error: Python 3.11 or newer is needed\nhint: python3.11 tools/check.py")
    if not (VENV / "pyvenv.cfg").is_file():
        venv.create(VENV, with_pip=True)
    python = BIN / "python"
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    run(python, "-m", "pip", "install", "--quiet", "--editable", ".[test]")
    run(python, "-m", "ruff", "check")
    run(python, "-m", "ruff", "format", "--check")
    run(python, "-m", "mypy")
    run(python, "tools/compile_rules.py", "--check")
    run(python, "-m", "pytest", "-n", "2", "--dist", "loadgroup", *arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
