"""Children: their output, their group, their end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from envsolve.environment.child import plain_environment, run_child
from envsolve.environment.hold import try_hold

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX process groups")


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_lines_and_code() -> None:
    heard: list[str] = []
    ended = run_child(
        python("print('a'); import sys; print('b', file=sys.stderr); sys.exit(3)"),
        env=plain_environment(),
        on_line=heard.append,
    )
    assert ended.code == 3 and sorted(heard) == ["a", "b"] and sorted(ended.last_lines) == ["a", "b"]


def test_only_the_last_lines_are_kept() -> None:
    ended = run_child(python("print(*range(5000), sep='\\n')"), env=plain_environment(), on_line=lambda line: None)
    assert ended.last_lines[-1] == "4999" and len(ended.last_lines) < 100


def test_bytes_that_are_no_text() -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\n')"
    assert run_child(python(code), env=plain_environment(), on_line=lambda line: None).code == 0


def test_an_interrupt_ends_grandchildren_too(tmp_path: Path) -> None:
    """A grandchild holds a lock as long as it lives."""
    lock = tmp_path / "lock"
    holder = tmp_path / "holder.py"
    holder.write_text(
        "import fcntl, sys, time\n"
        "file = open(sys.argv[1], 'w')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    code = f"import subprocess, sys; subprocess.run([sys.executable, {str(holder)!r}, {str(lock)!r}])"

    def interrupt(line: str) -> None:
        assert line == "up" and try_hold(lock) is None
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_child(python(code), env=plain_environment(), on_line=interrupt)
    held = try_hold(lock)
    assert held is not None
    os.close(held)


def test_a_child_inherits_the_hold(tmp_path: Path) -> None:
    held = try_hold(tmp_path / "lock")
    assert held is not None
    code = f"import os; os.fstat({held}); print('has it')"
    ended = run_child(python(code), env=plain_environment(), on_line=lambda line: None, keep_open=(held,))
    os.close(held)
    assert ended.last_lines == ("has it",)


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(OSError):
        run_child(["/no/such/tool"], env={}, on_line=lambda line: None)
