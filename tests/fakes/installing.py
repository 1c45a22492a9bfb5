"""What the install scenarios have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

SIX = StubWheel(name="six", version="1.17.0")


def lock_file(folder: Path, text: str) -> Path:
    """Write a lock into a folder."""
    path = folder / "requirements.lock.txt"
    path.write_text(text, encoding="utf-8")
    return path


def arguments(lock: Path, server: IndexServer, *more: str, name: str = "fresh") -> list[str]:
    """The command line that installs a lock under a name, or at the --path in `more`; not verified unless asked."""
    where = [] if "--path" in more else ["--name", name]
    verify = [] if "--verify" in more else ["--verify", "later"]
    return ["install", *where, "--lock", str(lock), "--index", server.simple, *verify, *more]


def install(lock: Path, server: IndexServer, *more: str, name: str = "fresh") -> int:
    """Install in this process; the exit code."""
    return run(arguments(lock, server, *more, name=name))


_spawned: list[subprocess.Popen[str]] = []

# Shells start background jobs with Ctrl-C ignored, and children inherit that: the test's process listens anyway.
_LISTENING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from envsolve.cli.app import main; main()"
)


def spawn(argv: list[str]) -> subprocess.Popen[str]:
    """Run envsolve in a process of its own, which doesn't outlive the test."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LISTENING, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _spawned.append(process)
    return process


def end_spawned() -> None:
    """End and reap what a test has left, whatever made it stop; close the pipes."""
    while _spawned:
        process = _spawned.pop()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()


def builds(root: Path) -> list[str]:
    """The builds below a store's folder, finished or not."""
    return sorted(path.name for path in (root / "builds").glob("*"))


def python_of(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def says(environment: Path, code: str) -> str:
    """What a Python program prints inside an environment."""
    done = subprocess.run([python_of(environment), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()
