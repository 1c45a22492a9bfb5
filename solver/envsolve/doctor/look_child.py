"""Children: the probes, run in the environment's own interpreter with a time limit. They leave nothing in it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envsolve.doctor.evidence import NO_ANSWER
from envsolve.errors import OutsideError
from envsolve.record import field, record

_PROBES = Path(__file__).resolve().parent / "probes"
_WHERE_SECONDS = 20.0


@record
class Trial:
    """How importing went: what torch said, the text that a user would have seen, and whether it came to an end."""

    said: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    ended: bool = True


def where(interpreter: Path) -> Mapping[str, Any]:
    """How the interpreter would import torch. Raises OutsideError where it doesn't run."""
    try:
        done = subprocess.run(
            [interpreter, "-B", str(_PROBES / "where.py")],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_WHERE_SECONDS, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise OutsideError(
            f"the interpreter {interpreter} does not run: {_why(error)}",
            hint="make a new environment: envsolve install --name NAME",
        ) from error
    return found if isinstance(found, dict) else {}


def _why(error: Exception) -> str:
    """The last line that it printed, else how it ended."""
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or "").strip()
        died = _died(error.returncode).strip()
        return said.splitlines()[-1] if said else died or f"it ended with status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {error.timeout:g} s"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "its answer is none"


def trial(interpreter: Path, names: Sequence[str], seconds: float) -> Trial:
    """Import these packages in the environment, as the user's program would, for so many seconds at most."""
    try:
        done = subprocess.run(
            [interpreter, "-B", "-W", "default", str(_PROBES / "trial.py"), *names],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Trial(text=f"{NO_ANSWER} {seconds:g} s to: import {', '.join(names)}", ended=False)
    except OSError as error:
        return Trial(text=f"can't start {interpreter}: {error.strerror}", ended=False)
    return Trial(said=_said(done.stdout), text=done.stderr + _died(done.returncode))


def _said(out: str) -> Mapping[str, Any]:
    last = out.strip().rsplit("\n", 1)[-1]
    try:
        found = json.loads(last)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _died(code: int) -> str:
    """A signal in the words of a shell."""
    words = {
        -4: "Illegal instruction (core dumped)", -6: "Aborted (core dumped)", -7: "Bus error (core dumped)",
        -8: "Floating point exception (core dumped)", -9: "Killed", -11: "Segmentation fault (core dumped)",
    }  # fmt: skip
    return f"\n{words[code]}\n" if code in words else ""
