"""nvidia-smi asked: the csv query for names and capabilities, the table for the driver's CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.machine.parse_csv import parse_csv
from envsolve.machine.parse_failure import parse_failure
from envsolve.machine.parse_table import parse_table
from envsolve.machine.probe import Probe, Ran
from envsolve.machine.reading import Reading
from envsolve.machine.text import tidy

SECONDS = 20.0  # the first call loads the driver; a lost GPU makes it hang
_QUERY = "index,name,uuid,driver_version,compute_cap,memory.total,mig.mode.current"
_OLD_QUERY = "index,name,uuid,driver_version,memory.total"
_LINUX = (
    "/usr/bin",
    "/usr/local/bin",
    "/usr/local/nvidia/bin",
    "/opt/bin",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/bin",
)
_WINDOWS = (r"{SystemRoot}\System32", r"{ProgramFiles}\NVIDIA Corporation\NVSMI")


def ask_smi(probe: Probe) -> list[Reading]:
    """What nvidia-smi says; its failure as a reading with the problem; [] where it is nowhere."""
    for command in commands(probe):
        table = probe.run([command], SECONDS)
        if table.status is None and not table.out:
            continue
        if table.status != 0:
            return parse_failure(tidy(table.out + "\n" + table.err)) + parse_table(tidy(table.out))
        return [*_query(probe, command), *parse_table(tidy(table.out))]
    return []


def commands(probe: Probe) -> Iterator[str]:
    """The name for PATH first, then the usual places where it is not on PATH."""
    yield "nvidia-smi"
    if probe.system == "win32":
        for folder in _WINDOWS:
            yield folder.format_map(_Folders(probe)) + r"\nvidia-smi.exe"
        return
    for place in _LINUX:
        if probe.exists(f"{place}/nvidia-smi"):
            yield str(probe.path(f"{place}/nvidia-smi"))


class _Folders(dict[str, str]):
    """The environment's folders with the usual ones where the variable is not set."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(SystemRoot=r"C:\Windows", ProgramFiles=r"C:\Program Files")
        self.update({key: probe.environ[key] for key in self if key in probe.environ})


def _query(probe: Probe, command: str) -> list[Reading]:
    """The csv query; older drivers do not know compute_cap (nor MIG) and are asked again without."""
    for fields in (_QUERY, _OLD_QUERY):
        answer: Ran = probe.run([command, f"--query-gpu={fields}", "--format=csv"], SECONDS)
        if answer.status == 0:
            return parse_csv(tidy(answer.out))
    return []
