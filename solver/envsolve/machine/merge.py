"""Merge: several readings of one machine become a Machine; each fact keeps its source, contradictions are kept too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envsolve.machine.machine import Arch, Finding, Gpu, Machine, Os, Problem, Vendor
from envsolve.machine.merge_gpus import merge_gpus
from envsolve.machine.reading import Reading
from envsolve.record import replace

_FACTS = ("os", "arch", "python", "libc", "driver", "cuda_max", "wsl", "tegra", "vendor")
# Sources that state what shall hold: they are not compared with what was seen.
STATED = ("override", "spec", "profile")


def merge(readings: Sequence[Reading], *, host: Machine | None = None) -> Machine:
    """One machine of readings in order of trust (the first that knows a fact wins, unlike ones become a Problem).

    `host` supplies os, arch and python where no reading knows them; those are named in `assumed`. Raises ValueError
    when os or arch is unknown and there is no host.
    """
    facts = {name: _first(readings, name) for name in _FACTS}
    gpus, gpu_problems = merge_gpus(readings, stated=STATED)
    os, arch, assumed = _platform(facts, host)
    python = facts["python"]
    if python is None and host is not None and host.python is not None:
        python, assumed = host.python, (*assumed, "python")
    return Machine(
        os=os,
        arch=arch,
        python=python,
        libc=facts["libc"],
        driver=facts["driver"],
        cuda_max=facts["cuda_max"],
        gpus=gpus,
        wsl=bool(facts["wsl"]),
        tegra=bool(facts["tegra"]),
        vendor=_vendor(facts["vendor"], gpus, os, arch),
        pythons=next((r.pythons for r in readings if r.pythons), ()),
        assumed=assumed,
        findings=findings(readings),
        problems=_problems(readings, gpu_problems),
    )


def findings(readings: Sequence[Reading]) -> tuple[Finding, ...]:
    """Every fact of every reading with its source."""
    found: list[Finding] = []
    for reading in readings:
        for name in _FACTS:
            value = getattr(reading, name)
            if value is not None:
                found.append(Finding(field=name, value=_text(value), source=reading.source))
        for index, gpu in enumerate(reading.gpus or ()):
            found += _gpu_findings(index, gpu, reading.source)
    return tuple(found)


def _gpu_findings(index: int, gpu: Gpu, source: str) -> list[Finding]:
    values = {"name": gpu.name, "compute_capability": gpu.compute_capability, "gfx": gpu.gfx}
    return [
        Finding(field=f"gpus[{index}].{field}", value=str(value), source=source)
        for field, value in values.items()
        if value is not None
    ]


def _first(readings: Sequence[Reading], field: str) -> Any:
    return next((value for r in readings if (value := getattr(r, field)) is not None), None)


def _platform(facts: dict[str, Any], host: Machine | None) -> tuple[Os, Arch, tuple[str, ...]]:
    """The system and architecture; a Tegra board and WSL say theirs themselves, the rest comes from this machine."""
    os: Os | None = "linux" if facts["wsl"] or facts["tegra"] else facts["os"]
    arch: Arch | None = facts["arch"] or ("aarch64" if facts["tegra"] else None)
    if (os is None or arch is None) and host is None:
        raise ValueError("neither the readings nor a host know os and arch")
    assumed = tuple(name for name, value in (("os", os), ("arch", arch)) if value is None)
    os = os or host.os  # type: ignore[union-attr]  # checked above
    arch = arch or host.arch  # type: ignore[union-attr]
    if arch != "x86_64":
        arch = "aarch64" if os == "linux" else "arm64"
    return os, arch, assumed


def _vendor(vendor: Vendor | None, gpus: tuple[Gpu, ...], os: Os, arch: Arch) -> Vendor | None:
    """Macs have no GPU that CUDA serves: their vendor follows from the system."""
    if vendor is None and not gpus and os == "macos":
        return "apple" if arch == "arm64" else "none"
    return vendor


def _problems(readings: Sequence[Reading], more: Sequence[Problem]) -> tuple[Problem, ...]:
    """All problems, each once, in the order found; facts on which sources differ are added."""
    problems = [p for r in readings for p in r.problems]
    problems += [_differ(name, values) for name in _FACTS if len(values := _unlike(readings, name)) > 1]
    return tuple(dict.fromkeys([*problems, *more]))


def _unlike(readings: Sequence[Reading], field: str) -> list[tuple[str, str]]:
    """The values that differ, each with the source that said it first; [] where a stated value settles it."""
    seen: dict[Any, tuple[str, str]] = {}
    for reading in readings:
        value = getattr(reading, field)
        if value is None:
            continue
        if reading.source in STATED:
            return []
        key = value.split(".")[:2] if field == "python" else value
        seen.setdefault(tuple(key) if isinstance(key, list) else key, (_text(value), reading.source))
    return list(seen.values())


def _differ(field: str, values: list[tuple[str, str]]) -> Problem:
    said = ", ".join(f"{value} ({source})" for value, source in values)
    return Problem(code="sources-disagree", text=f"the sources disagree on {field}: {said}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "name"):  # Libc
        return f"{value.name} {value.version}" if value.version else str(value.name)
    return str(value)


def with_problems(machine: Machine, problems: Sequence[Problem]) -> Machine:
    """The machine with more problems, each once."""
    return replace(machine, problems=tuple(dict.fromkeys([*machine.problems, *problems])))
