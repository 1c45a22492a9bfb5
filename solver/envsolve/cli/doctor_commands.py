"""Doctor commands: what a finding says to type, for this one environment and this user's mirror.

A plain `pip install` reaches the environment that is active, and only if it has a pip: uv's have none.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from envsolve.addresses import PYTORCH_INDEX
from envsolve.record import replace
from envsolve.redact import strip_credentials
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.doctor.finding import Finding
    from envsolve.doctor.look_place import Place

_PIP = regex(r"(?:uv |python -m )?pip (install|uninstall) ")


def for_place(finding: Finding, place: Place, *, has_pip: bool) -> Finding:
    """The finding with commands that reach this environment, from the mirror of ENVSOLVE_MIRROR if there is one."""
    base = strip_credentials(os.environ.get("ENVSOLVE_MIRROR", "")).rstrip("/") or PYTORCH_INDEX
    start = _start(place, has_pip=has_pip)

    def adapted(command: str) -> str:
        match = _PIP.match(command)
        if match and start:
            command = f"{start[0]} {match[1]} {start[1]}{command[match.end() :]}"
        return command.replace(PYTORCH_INDEX, base)

    fixes = tuple(replace(fix, commands=tuple(map(adapted, fix.commands))) for fix in finding.fixes)
    return replace(finding, fixes=fixes)


def _start(place: Place, *, has_pip: bool) -> tuple[str, str] | None:
    """What stands in place of `pip` before and after the verb; None where plain pip reaches the environment."""
    interpreter = shlex.quote(str(place.interpreter))
    if has_pip:
        return None if place.is_active else (f"{interpreter} -m pip", "")
    return ("uv pip", "" if place.is_active else f"--python {interpreter} ")
