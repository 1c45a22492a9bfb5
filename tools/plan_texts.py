"""Rewrite tests/fixtures/plan_text: run the command line in each file's first line and keep what it prints.

Look at the difference before you commit it: these texts are what people read.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path

from envsolve.cli.app import run

TEXTS = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "plan_text"


def main() -> int:
    """Rewrite every file; print the names of those that changed."""
    for path in sorted(TEXTS.glob("*.txt")):
        before = path.read_text(encoding="utf-8")
        command = before.partition("\n")[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            run(shlex.split(command)[2:])
        after = f"{command}\n{out.getvalue()}"
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            print(f"rewrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
