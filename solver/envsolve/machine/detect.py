"""Detect: this machine as it is. The sources are asked in order; those that answer are compared, none is hidden."""

from __future__ import annotations

from collections.abc import Iterable

from envsolve.machine.host import host_os, read_host
from envsolve.machine.machine import Gpu, Machine, Problem, Vendor
from envsolve.machine.merge import merge, with_problems
from envsolve.machine.override import read_overrides, settles
from envsolve.machine.pci import cards, has_bus
from envsolve.machine.probe import Probe
from envsolve.machine.probe_kernel import (
    NVIDIA,
    idle_cards,
    is_container,
    is_wsl,
    read_board,
    read_proc,
    read_tegra_model,
    unserved,
    wsl_problems,
)
from envsolve.machine.probe_libcuda import ask_libcuda
from envsolve.machine.probe_nvml import ask_nvml
from envsolve.machine.probe_others import read_amd, read_intel
from envsolve.machine.probe_smi import ask_smi
from envsolve.machine.probe_windows import ask_windows
from envsolve.machine.pythons import find_pythons
from envsolve.machine.reading import Reading
from envsolve.machine.visible import hidden_by_mask
from envsolve.record import replace


def detect(probe: Probe | None = None, *, thorough: bool = False) -> Machine:
    """This machine: GPUs, driver, host and Pythons, each fact with its source, each contradiction as a problem.

    `thorough` asks libcuda and nvidia-smi too where NVML has answered already. Overrides (ENVSOLVE_GPUS,
    ENVSOLVE_DRIVER, ENVSOLVE_CUDA) outrank all sources. Raises InputError for a bad override, OutsideError on a
    system for which PyTorch has no wheels.
    """
    probe = probe or Probe()
    stated = read_overrides(probe.environ)
    found = [] if settles(stated) else _look(probe, thorough)
    host = replace(read_host(probe), pythons=find_pythons(probe))
    board = read_board(probe) if host.os == "linux" else []
    machine = merge([*stated, *found, *board, host])
    vendor = machine.vendor or _absent(probe, machine)
    return with_problems(replace(machine, vendor=vendor), hidden_by_mask(probe.environ, machine.gpus))


def _look(probe: Probe, thorough: bool) -> list[Reading]:
    """Every reading of GPUs: NVIDIA's driver first, the bus where that does not answer, other makers last."""
    if host_os(probe.system) == "macos":
        return []
    readings = [*_ask_driver(probe, thorough), *read_proc(probe)]
    bus = cards(probe, NVIDIA)
    gpus = _gpus(readings)
    if gpus:
        container = is_container(probe)
        more = () if container else unserved(bus, len(gpus))
        if not _answers(readings):  # the kernel module shows through, the libraries are elsewhere
            readings.append(_without_libraries(container))
        return [*readings, _problems("PCI bus", (*more, *wsl_problems(probe)))]
    if bus:
        return [*readings, idle_cards(bus, is_container(probe))]
    readings.append(_problems("WSL", wsl_problems(probe)))
    return [*readings, *_last_sources(probe)]


def _last_sources(probe: Probe) -> list[Reading]:
    """A Tegra board by its name, Windows' own list, then AMD and Intel: the first that knows a GPU."""
    tegra = any(reading.tegra for reading in read_board(probe))
    sources = (read_tegra_model,) if tegra else (ask_windows, read_amd, read_intel)
    return next((found for ask in sources if (found := ask(probe))), [])


def _ask_driver(probe: Probe, thorough: bool) -> list[Reading]:
    """NVML, else libcuda, else nvidia-smi; all three when thorough."""
    readings: list[Reading] = []
    for ask in (ask_nvml, ask_libcuda, ask_smi):
        if ask is not ask_nvml and not _worth_asking(probe, readings):
            break
        readings += ask(probe)
        if _answers(readings) and not thorough:
            break
    return readings


def _worth_asking(probe: Probe, readings: list[Reading]) -> bool:
    """Whether anything hints at an NVIDIA GPU; a plain server is not kept waiting by programs that can't know more."""
    if readings or not has_bus(probe) or is_wsl(probe):
        return True
    return bool(cards(probe, NVIDIA)) or any(map(probe.exists, ("/dev/nvidiactl", "/proc/driver/nvidia/version")))


def _answers(readings: Iterable[Reading]) -> bool:
    """Whether a library of the driver has listed a card."""
    return any(r.gpus and r.source in ("nvml", "libcuda", "nvidia-smi csv", "nvidia-smi table") for r in readings)


def _gpus(readings: Iterable[Reading]) -> tuple[Gpu, ...]:
    return next((r.gpus for r in readings if r.gpus), ())


def _without_libraries(container: bool) -> Reading:
    if container:
        text = (
            "the host's NVIDIA driver shows through, but its libraries are not in this container (docker: --gpus all)"
        )
        return _problems("container", (Problem(code="gpu-hidden", text=text),))
    text = "the NVIDIA kernel module is loaded, but neither NVML nor libcuda nor nvidia-smi answers"
    return _problems("kernel", (Problem(code="driver-library-mismatch", text=text),))


def _problems(source: str, problems: Iterable[Problem]) -> Reading:
    return Reading(source=source, problems=tuple(problems))


def _absent(probe: Probe, machine: Machine) -> Vendor | None:
    """No GPU was found: is there none, or could it only not be seen? A failing driver without a bus to look at is not
    taken for "none"."""
    failing = any(p.code not in ("python-32-bit", "python-translated") for p in machine.problems)
    return None if failing and (is_wsl(probe) or not has_bus(probe)) else "none"
