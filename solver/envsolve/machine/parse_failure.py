"""What nvidia-smi, NVML, container runtimes and shells say instead of an answer, in several languages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envsolve.machine.machine import Problem, Vendor
from envsolve.machine.reading import Reading
from envsolve.regex import regex

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
        r"couldn'?t communicate with the NVIDIA driver|(?:NVML|nvml error): driver not loaded",
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
        r"(?:do not|don'?t) have (?:sufficient )?permission|NVML: Insufficient Permissions"
        r"|nvidia-smi: Permission denied|NVIDIA-SMI has failed because you are not",
        "permission",
        "nvidia-smi may not ask the driver: insufficient permissions",
    ),
    _failure(
        r"Unable to determine the device handle for GPU|NVML: GPU is lost",
        "gpu-lost",
        "the driver lists a GPU that does not answer; reboot to recover it",
        "nvidia",
    ),
    _failure(
        r"No devices (?:were )?found\b|NVML: No supported GPUs were found",
        "no-devices",
        "the driver is loaded and finds no GPU that it can drive",
    ),
    _failure(
        r"Failed to initialize NVML:? *Unknown Error",
        "gpu-hidden",
        "NVML cannot open the GPU; in a container the device files were taken away: start the container anew",
    ),
    _failure(
        r"could not select device driver \S* ?with capabilities: \[\[gpu\]\]",
        "gpu-hidden",
        "the container runtime cannot hand out GPUs: install the NVIDIA container toolkit on the host",
    ),
    _failure(
        r"couldn'?t find (?:the )?(?:libnvidia-ml|NVML)|libnvidia-ml\.so\S* (?:library )?(?:was )?not found"
        r"|NVML(?: Shared)? Library Not Found|nvml\.dll.{0,40}not found"
        r"|libnvidia-ml\.so.{0,20}cannot open shared object",
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
_NAME = r"nvidia-smi(?:\.exe)?"
# "bash: nvidia-smi: …" and "sudo: nvidia-smi: …": whatever follows, in any language, means that it was not run.
_SHELL = regex(
    rf"^[-\w/.]*(?:sh|busybox|sudo|env|time)\S*: (?:(?:line |\w+ )?\d+: )?(?:\S+ \S+ \S+: )?[/\w.-]*{_NAME}\s?: ?\S"
    rf"|(?:command not found|unknown command):? .?{_NAME}|(?:Command|Commande|Befehl) .?{_NAME}\W+\w"
    rf"|exec: .?{_NAME}.?: executable file not found|{_NAME}: (?:command )?not found"
    rf"|No such file or directory: .{{0,40}}{_NAME}|{_NAME}: No such file|CommandNotFoundException",
    re.IGNORECASE,
)
# cmd.exe says "'nvidia-smi' is not recognized as an internal or external command", PowerShell "nvidia-smi : The term …
# cmdlet": the roots of internal, recognized and cmdlet in the languages of Windows.
_QUOTED = regex(rf"^\W{{1,3}}{_NAME}\W|^{_NAME}\s?: ", re.IGNORECASE)
_ROOTS = regex(
    r"\bintern|внутрен|wewn|vnitř|vnútorn|belső|\biç |sisäi|εσωτερικ|内部|內部|내부|פנימי|داخلي|recogn|reconn|reconoc"
    r"|reconhec|riconos|rozpozn|erkannt|распозн|認識|辨識|识别|인식|herken|cmdlet|командлет|コマンドレット|not found",
    re.IGNORECASE,
)
_NOT_RUN = Problem(code="no-driver", text="there is no nvidia-smi command: no NVIDIA driver, or it is not on PATH")


def parse_failure(text: str) -> list[Reading]:
    """A reading that holds only the problem of each failed call in the text; [] where nothing failed."""
    problems: dict[Problem, Vendor | None] = {}
    for line in text.splitlines():
        found = _failed(line)
        if found:
            problems.setdefault(*found)
    if not problems:
        return []
    vendor = next((v for v in problems.values() if v), None)
    return [Reading(source=SOURCE, vendor=vendor, problems=tuple(problems))]


def _failed(line: str) -> tuple[Problem, Vendor | None] | None:
    for failure in _FAILURES:
        if failure.pattern.search(line):
            return Problem(code=failure.code, text=failure.text), failure.vendor
    return (_NOT_RUN, None) if is_missing_command(line) else None


def is_missing_command(line: str) -> bool:
    """Whether a shell says, in whatever language, that it knows no nvidia-smi."""
    line = line.strip()
    return bool(_SHELL.search(line) or (_QUOTED.search(line) and _ROOTS.search(line)))
