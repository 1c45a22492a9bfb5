"""What nvidia-smi, NVML and the shell say instead of an answer, in several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envsolve.machine.machine import Problem, Vendor
from envsolve.machine.reading import Reading

SOURCE = "nvidia-smi"


@dataclass(frozen=True, slots=True)
class Failure:
    """A message to look for, the problem that it means, and the vendor where the message proves a GPU."""

    pattern: re.Pattern[str]
    code: str
    text: str
    vendor: Vendor | None = None


def _failure(pattern: str, code: str, text: str, vendor: Vendor | None = None) -> Failure:
    return Failure(re.compile(pattern, re.IGNORECASE), code, text, vendor)


# The first that matches a line is taken; the last ones are the general forms.
_FAILURES = (
    _failure(
        r"couldn'?t communicate with the NVIDIA driver|NVML: Driver Not Loaded",
        "driver-not-loaded",
        "nvidia-smi is installed, the NVIDIA driver is not loaded",
    ),
    _failure(
        r"Driver/library version mismatch",
        "driver-library-mismatch",
        "the loaded kernel module and the driver's libraries have different versions; reboot, or reload the module",
        "nvidia",
    ),
    _failure(
        r"GPU access blocked by the operating system",
        "wsl-stub",
        "the operating system blocks the GPU; under WSL the Windows driver does not reach it",
    ),
    _failure(
        r"(?:do not|don'?t) have (?:sufficient )?permission|NVML: Insufficient Permissions",
        "permission",
        "nvidia-smi may not ask the driver: insufficient permissions",
    ),
    _failure(
        r"Unable to determine the device handle for GPU|GPU is lost|GPU requires reset",
        "gpu-lost",
        "the driver lists a GPU that does not answer; reboot to recover it",
        "nvidia",
    ),
    _failure(r"No devices were found", "no-devices", "the driver is loaded and finds no GPU that it can drive"),
    _failure(
        r"Failed to initialize NVML:? *(?:Unknown Error|GPU is lost)",
        "gpu-hidden",
        "NVML cannot open the GPU; in a container the device files were taken away: start the container anew",
    ),
    _failure(
        r"couldn'?t find (?:the )?(?:libnvidia-ml|NVML)|libnvidia-ml\.so\S* (?:library )?(?:was )?not found"
        r"|NVML Shared Library Not Found|nvml\.dll.{0,40}not found|libnvidia-ml\.so.{0,20}cannot open shared object",
        "no-driver",
        "the driver's NVML library is not installed",
    ),
    _failure(
        r"Field \"[^\"]*\" is not a valid field to query",
        "unreadable",
        "this nvidia-smi does not know a field that it was asked for",
    ),
    _failure(r"Failed to initialize NVML|NVIDIA-SMI has failed", "unreadable", "nvidia-smi failed"),
)
# "bash: nvidia-smi: command not found", "'nvidia-smi' is not recognized …", "nvidia-smi : The term …": in any language
# the name stands in quotes at the start, or between the shell's colons.
_QUOTED = re.compile(
    r"^[^\w'\"`«„“‘「『]{0,3}(?:\w{1,12} )?[\"'`«„“‘「『]\s?nvidia-smi(?:\.exe)?\s?[\"'`»“”’」』]\W*\s*\S"
)
_SHELL = re.compile(
    r"^(?:[-\w/.]*(?:sh|busybox)\S*: )(?:(?:line |\w+ )?\d+: )?(?:\S+ \S+ \S+: )?nvidia-smi\s*:\s*\S"
    r"|^nvidia-smi\s?: \S|(?:command not found|unknown command):? .?nvidia-smi"
    r"|(?:Command|Commande|Befehl) .?nvidia-smi",
    re.IGNORECASE,
)
_POWERSHELL = re.compile(r"CommandNotFoundException|ObjectNotFound: \(nvidia-smi", re.IGNORECASE)
_TAIL = re.compile(r"^\s*[-+~]|^\s*$")
_NOT_RUN = Problem(code="no-driver", text="there is no nvidia-smi command: no NVIDIA driver, or it is not on PATH")


def parse_failure(text: str) -> list[Reading]:
    """A reading that holds only the problem of each failed call in the text; [] where nothing failed."""
    problems: dict[Problem, Vendor | None] = {}
    for line in text.splitlines():
        for failure in _FAILURES:
            if failure.pattern.search(line):
                problems.setdefault(Problem(code=failure.code, text=failure.text), failure.vendor)
                break
        else:
            if is_missing_command(line):
                problems.setdefault(_NOT_RUN, None)
    if not problems:
        return []
    vendor = next((v for v in problems.values() if v), None)
    return [Reading(source=SOURCE, vendor=vendor, problems=tuple(problems))]


def is_missing_command(line: str) -> bool:
    """Whether a shell says, in whatever language, that it knows no nvidia-smi."""
    line = line.strip()
    return bool(_QUOTED.search(line) or _SHELL.search(line) or _POWERSHELL.search(line))
