"""Probe: the world that detection looks at. Tests hand in a folder, an environment and a runner of their own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended: its exit status (None: not there, or out of time) and what it printed."""

    status: int | None
    out: str = ""
    err: str = ""


Run = Callable[[Sequence[str], float], Ran]


def run_command(command: Sequence[str], seconds: float) -> Ran:
    """Run a command for so many seconds at most; a missing command or one out of time has no status."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(status=None, err=f"no answer within {seconds:g} s")
    except OSError as error:
        return Ran(status=None, err=error.strerror or str(error))
    return Ran(status=done.returncode, out=done.stdout, err=done.stderr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """File system root, environment, commands, and what the running Python says of its platform."""

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    run: Run = run_command
    system: str = sys.platform
    processor: str = field(default_factory=platform.machine)

    def path(self, absolute: str) -> Path:
        """An absolute path below the root."""
        return self.root / absolute.lstrip("/")

    def read(self, absolute: str) -> str | None:
        """The text of a small file; None where it is not there or can't be read."""
        try:
            return self.path(absolute).read_bytes()[:1_000_000].decode("utf-8", errors="replace")
        except OSError:
            return None

    def exists(self, absolute: str) -> bool:
        """Whether there is something at this path."""
        return os.path.lexists(self.path(absolute))

    def list(self, absolute: str) -> Iterator[Path]:
        """What a folder holds, by name; nothing where it is not there."""
        try:
            yield from sorted(self.path(absolute).iterdir())
        except OSError:
            return
