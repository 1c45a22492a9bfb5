"""Probe: the world that detection looks at. Tests hand in a folder, an environment and runners of their own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from envsolve.record import field, record

_MOST_BYTES = 4_000_000  # pci.ids has 1.5 MB


@record
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
    except (OSError, ValueError) as error:
        return Ran(status=None, err=str(error))
    return Ran(status=done.returncode, out=done.stdout, err=done.stderr)


def load_nvml() -> Any:
    """The NVML bindings (nvidia-ml-py)."""
    import pynvml

    return pynvml


def wheel_tags() -> Iterable[str]:
    """The platform tags of wheels that the running Python takes, best first."""
    from packaging.tags import platform_tags

    return platform_tags()


@record
class Probe:
    """File system root, environment, commands, libraries, and what the running Python says of its platform."""

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    run: Run = run_command
    nvml: Callable[[], Any] = load_nvml
    wheel_tags: Callable[[], Iterable[str]] = wheel_tags
    system: str = sys.platform
    processor: str = field(default_factory=platform.machine)

    def path(self, absolute: str) -> Path:
        """An absolute path below the root."""
        return self.root / absolute.lstrip("/")

    def read(self, absolute: str) -> str | None:
        """The text of a file; None where it is not there or can't be read."""
        try:
            with self.path(absolute).open("rb") as file:
                return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    def exists(self, absolute: str) -> bool:
        """Whether there is something at this path."""
        return os.path.lexists(self.path(absolute))

    def list(self, absolute: str) -> Iterator[str]:
        """The names in a folder, sorted; nothing where it is not there."""
        try:
            yield from sorted(os.listdir(self.path(absolute)))  # noqa: PTH208 - names are wanted, not paths
        except OSError:
            return

    def link(self, absolute: str) -> str | None:
        """The last name of what a link points to (the driver that a device is bound to); None without a link."""
        try:
            return Path(os.readlink(self.path(absolute))).name  # noqa: PTH115 - the target need not exist
        except OSError:
            return None
