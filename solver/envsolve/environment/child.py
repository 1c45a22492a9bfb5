"""Child: run another tool so that nothing of it outlives us, and keep the last lines that it said."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from envsolve.record import record

_LAST_LINES = 60
_GRACE_SECONDS = 5.0
# What changes how pip, uv, virtualenv or Python itself behave; proxies, certificates and HOME (netrc) are kept.
_DROPPED = ("PIP_", "UV_", "VIRTUALENV_", "PYTHON", "VIRTUAL_ENV", "CONDA_", "__PYVENV_LAUNCHER__", "ENVSOLVE_")


@record
class Ended:
    """How a child ended: its exit code (negative: the signal) and its last lines."""

    code: int
    last_lines: tuple[str, ...]


def plain_environment() -> dict[str, str]:
    """This process's environment without what would change a Python tool's behaviour."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(_DROPPED)}


def run_child(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    on_line: Callable[[str], None],
    keep_open: tuple[int, ...] = (),
) -> Ended:
    """Run a command without a time limit, passing each line of its output on.

    It runs in a process group of its own: when we are interrupted, all of it is ended before the exception goes on.
    `keep_open` are descriptors that the child inherits (holds that must last as long as it runs). Raises OSError
    when the command can't be started.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(env),
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=os.name != "nt",
        pass_fds=keep_open if os.name != "nt" else (),
    )
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                last.append(line.rstrip())
                on_line(line.rstrip())
            return Ended(code=process.wait(), last_lines=tuple(last))
        except BaseException:
            _end_group(process)
            raise


def _end_group(process: subprocess.Popen[str]) -> None:
    """Ask the whole group to end, then make it; the folder that it wrote to can be removed after that."""
    deadline = time.monotonic() + 2 * _GRACE_SECONDS
    _signal_group(process, signal.SIGTERM)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also when the child itself has gone: what it started may still be there.
        while _signal_group(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL):
            if process.poll() is not None and time.monotonic() > deadline:
                break  # only zombies that nobody reaps
            time.sleep(0.02)


def _signal_group(process: subprocess.Popen[str], number: int) -> bool:
    """Whether there was anybody left to signal."""
    try:
        if sys.platform == "win32":
            _end_tree(process.pid)
            process.terminate()
            return process.poll() is None
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end_tree(pid: int) -> None:
    """End a process and what it started (Windows, where a process has no group that could be signalled)."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, timeout=_GRACE_SECONDS, check=False
        )
