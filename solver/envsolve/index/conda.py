"""The conda part of a lock: Python and pip from conda channels, solved by py-rattler (the extra envsolve[conda])."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envsolve.errors import OutsideError
from envsolve.redact import redact, strip_credentials


def solve(
    channels: Sequence[str],
    specs: Sequence[str],
    *,
    subdir: str,
    virtual: Sequence[tuple[str, str, str]],
    cache_dir: Path,
    offline: bool = False,
) -> list[dict[str, Any]]:
    """The packages that a platform takes for these specs, by name, each as a dict: CondaPackage's fields.

    `subdir` is conda's name of the platform ("linux-64"), `virtual` the machine's virtual packages as name, version,
    build. Raises OutsideError where py-rattler is absent, a channel can't be read, or nothing satisfies the specs.
    """
    if importlib.util.find_spec("rattler") is None:
        raise OutsideError(
            "a conda lock needs py-rattler, which is not installed", hint="pip install 'envsolve[conda]'"
        )
    answer = _asked(
        {
            "channels": list(channels),
            "specs": list(specs),
            "subdir": subdir,
            "virtual": list(virtual),
            "cache_dir": str(cache_dir / "conda"),
            "offline": offline,
        }
    )
    if "error" in answer:
        told = ", ".join(map(redact, channels))
        raise OutsideError(
            f"conda can't make {', '.join(specs)} for {subdir} from {told}: {_redacted(answer['error'], channels)}",
            hint="--conda-channel names another channel",
        )
    return sorted(map(_package, answer["packages"]), key=lambda package: str(package["name"]))


def _asked(question: dict[str, object]) -> dict[str, Any]:
    """The answer of the child process that runs py-rattler."""
    done = subprocess.run(
        [sys.executable, "-m", "envsolve.index.conda_child"],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise OutsideError(f"py-rattler failed: {last}", hint="pip install --upgrade 'envsolve[conda]'") from None
    return answer


def _redacted(text: str, channels: Sequence[str]) -> str:
    for channel in channels:
        text = text.replace(channel, redact(channel))
    return text


def _package(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "url": strip_credentials(found["url"]), "depends": tuple(found["depends"])}
