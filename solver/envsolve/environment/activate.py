"""Activation: the line that switches an environment on, for each shell. No start-up file is edited."""

from __future__ import annotations

import shlex
from pathlib import Path

from envsolve.environment.create import is_condas, scripts_of


def activation_lines(environment: Path) -> dict[str, str]:
    """Shell -> the line to type there, for the scripts that the environment has (cmd's on Windows only)."""
    if is_condas(environment):
        return {"conda": f"conda activate {shlex.quote(str(environment))}"}
    scripts = {path.name.lower(): path for path in scripts_of(environment).glob("[aA]ctivate*")}
    shells = {"bash/zsh": "activate", "fish": "activate.fish", "PowerShell": "activate.ps1", "cmd": "activate.bat"}
    if scripts_of(environment).name != "Scripts":
        del shells["cmd"]  # uv writes its script everywhere
    return {shell: _line(shell, str(scripts[file])) for shell, file in shells.items() if file in scripts}


def _line(shell: str, script: str) -> str:
    if shell == "PowerShell":
        return "& '" + script.replace("'", "''") + "'"
    return f'"{script}"' if shell == "cmd" else f"source {shlex.quote(script)}"
