"""A machine in a few lines for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from envsolve.capability import Capability
from envsolve.machine.machine import Gpu, Machine

ByName = Callable[[str], Capability | None]


def lines(machine: Machine, by_name: ByName) -> Iterator[str]:
    """One line a fact: GPUs, driver, host, Pythons, sources, problems. `by_name` finds a capability by a GPU's name."""
    if not machine.gpus:
        yield _row("GPU", _no_gpu(machine))
    for position, gpu in enumerate(machine.gpus):
        yield _row(f"GPU {position}", _gpu(gpu, by_name))
    if machine.gpus or machine.driver or machine.cuda_max:
        yield _row("driver", _driver(machine))
    yield _row("host", _host(machine))
    if machine.python:
        yield _row("python", _python(machine))
    sources = dict.fromkeys(f.source for f in machine.findings)
    if sources:
        yield _row("sources", ", ".join(sources))
    for problem in machine.problems:
        yield _row("problem", f"{problem.text} [{problem.code}]")


def _row(label: str, text: str) -> str:
    return f"{label:<9} {text}"


def _no_gpu(machine: Machine) -> str:
    vendors = {"none": "none found", "apple": "Apple silicon", None: "unknown: nothing here tells whether there is one"}
    return vendors.get(machine.vendor, f"{machine.vendor}, nothing more is known")


def _gpu(gpu: Gpu, by_name: ByName) -> str:
    parts = [gpu.name or ("" if gpu.gfx else "unknown"), _target(gpu, by_name)]
    if gpu.memory_bytes:
        parts.append(f"{gpu.memory_bytes / 2**30:.0f} GiB")
    if gpu.mig:
        parts.append("MIG")
    return ", ".join(part for part in parts if part)


def _target(gpu: Gpu, by_name: ByName) -> str:
    if gpu.gfx:
        return gpu.gfx
    if gpu.compute_capability:
        return f"compute capability {gpu.compute_capability}"
    found = by_name(gpu.name) if gpu.name else None
    return f"compute capability {found} (by name)" if found else "compute capability unknown"


def _driver(machine: Machine) -> str:
    if machine.vendor not in ("nvidia", None):
        return "not NVIDIA"
    number = str(machine.driver) if machine.driver else "unknown"
    return f"{number}, speaks CUDA {machine.cuda_max}" if machine.cuda_max else f"{number}, its CUDA was not reported"


def _host(machine: Machine) -> str:
    libc = machine.libc
    parts = [f"{machine.os} {machine.arch}"]
    if libc:
        parts.append(f"{libc.name} {libc.version}" if libc.version else libc.name)
    parts += [word for word, true in (("WSL", machine.wsl), ("Tegra", machine.tegra)) if true]
    assumed = [name for name in machine.assumed if name in ("os", "arch")]
    return ", ".join(parts) + (f" ({' and '.join(assumed)} taken from this machine)" if assumed else "")


def _python(machine: Machine) -> str:
    others = [version for version in machine.pythons if version != machine.python]
    more = f"; also found: {', '.join(others)}" if others else ""
    return f"{machine.python}{' (taken from this machine)' if 'python' in machine.assumed else ''}{more}"
