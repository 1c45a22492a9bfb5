"""The machine of a report: what the tools in it printed, completed by what its sentences say. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from envsolve.doctor import report_gpus, report_words
from envsolve.doctor.evidence import Host, Symptom
from envsolve.doctor.facts import Facts
from envsolve.doctor.report_blocks import Block
from envsolve.doctor.report_prose import prose
from envsolve.doctor.report_python import Said
from envsolve.dotted import Dotted
from envsolve.machine.machine import Gpu, Machine, Vendor
from envsolve.machine.merge import merge
from envsolve.machine.reading import Reading
from envsolve.machine.text import parse_text
from envsolve.record import record, replace
from envsolve.regex import regex
from envsolve.rulebook.rulebook import Rulebook

_CONTAINER = regex(
    r"\b(?:docker|podman|container|kubernetes|k8s|\bpod\b|Dockerfile|docker-compose|compose\.ya?ml|singularity"
    r"|apptainer|devcontainer"
    r"|nvcr\.io|LXC|lxc)\b|root@[0-9a-f]{12}:|/workspace\b|\bEnroot\b|^services:\s*$|^[\w.-]+-\d+ +\| ",
    re.IGNORECASE | re.MULTILINE,
)
_WSL = regex(r"\bWSL ?[12]?\b|\bWindows Subsystem for Linux\b|/usr/lib/wsl|/dev/dxg|/mnt/c/", re.IGNORECASE)
_VIRTUAL = regex(
    r"\bVirtualBox\b|\bVMware\b|\bKVM\b|\bQEMU\b|\bProxmox\b|\bHyper-V\b|\bguest\b|\bvirtual machine\b"
    r"|\bVirtio\b|\bESXi\b"
    r"|\bpassthrough\b|\bParallels\b|\bUTM\b|SVGA II Adapter|\bvirtualised\b|\bvirtualized\b"
)
_VGPU = regex(r"\b(?:GRID|vGPU|NVIDIA \w+-\d+[ABCQ])\b")
_TEGRA = regex(r"-tegra\b|\bJetPack\b|\bJetson\b|\bL4T\b|nv_tegra_release|\btegra\b|\bOrin\b|\bXavier\b(?! University)")
_LOOKED = regex(r"\blspci\b|\blshw\b|Win32_VideoController|system_profiler|dxdiag")


@record
class Clues:
    """What the other parsers found that tells of the machine."""

    text: str
    found: Sequence[Block]
    said: Sequence[Said]
    symptoms: Sequence[Symptom]
    wheels: Sequence[str]


def host_of(clues: Clues, rulebook: Rulebook, facts: Facts) -> Host:
    """The host of a report. What nobody tells is neutral (Linux on x86_64) and not in `known`."""
    printed = parse_text(clues.text)
    told = _told(clues, printed, facts)
    machine = merge([*printed, *_of_torch(clues), told], host=Machine(os="linux", arch="x86_64"))
    machine = _completed(machine, clues, rulebook)
    known = {f for f in ("os", "arch") if f not in machine.assumed}
    known |= {f for f in ("python", "driver", "cuda_max", "libc") if getattr(machine, f) is not None}
    if any(g.name or g.compute_capability for g in machine.gpus):
        known.add("gpu")
    absent = _nobody_home(clues)
    return Host(
        machine=replace(machine, vendor="none") if absent and not machine.gpus else machine,
        known=frozenset(known),
        container=bool(_CONTAINER.search(clues.text)),
        virtual=bool(_VIRTUAL.search(clues.text)),
        vgpu=bool(_VGPU.search(clues.text)),
        gpu_absent=absent or machine.vendor == "none",
        gpu_claimed=bool(machine.gpus) or machine.vendor == "nvidia",
        bits=report_words.told_bits(clues.text),
        emulated=report_words.told_emulated(clues.text),
    )


def _told(clues: Clues, printed: Sequence[Reading], facts: Facts) -> Reading:
    """What sentences, paths and file names say."""
    wsl = True if _WSL.search(clues.text) else None
    tegra = True if _TEGRA.search(clues.text) else None
    os = "linux" if wsl or tegra else report_words.told_os(clues.text)
    return Reading(
        source="the text",
        os=os,
        arch=report_words.told_arch(clues.text, os),
        python=_python(clues) or report_words.told_python(clues.text, clues.wheels),
        libc=report_words.told_libc(clues.text, facts) if os == "linux" else None,
        driver=None if any(r.driver for r in printed) else report_words.told_driver(clues.text),
        cuda_max=_found_version(clues.symptoms),
        wsl=wsl,
        tegra=tegra,
        vendor=_vendor(prose(clues.text), printed),
    )


def _found_version(symptoms: Sequence[Symptom]) -> Dotted | None:
    """The CUDA of the driver, as torch tells it where that is too old: 11040 is 11.4."""
    found = next((s.get("found") for s in symptoms if s.name == "driver-old" and s.get("found").isdecimal()), "")
    return Dotted.parse(f"{int(found) // 1000}.{int(found) % 1000 // 10}") if found else None


def _vendor(text: str, printed: Sequence[Reading]) -> Vendor | None:
    return None if any(r.gpus for r in printed) else report_gpus.vendor(text)


def _python(clues: Clues) -> str | None:
    said = [a.value for a in clues.said if a.fact == "python"]
    match = re.match(r"(3\.\d{1,2})", said[-1]) if said else None
    return match[1] if match else None


def _of_torch(clues: Clues) -> list[Reading]:
    gpus = report_gpus.from_torch(clues.symptoms, clues.said)
    return [Reading(source="torch", gpus=gpus, partial=True, vendor="nvidia")] if gpus else []


def _completed(machine: Machine, clues: Clues, rulebook: Rulebook) -> Machine:
    """With the GPUs of sentences where no tool listed any, and a capability that a sentence gives."""
    gpus = _each_once(machine.gpus)
    if not any(g.name or g.compute_capability for g in gpus) and machine.vendor in (None, "nvidia", "none"):
        found = report_gpus.named(prose(clues.text), rulebook.gpu_names)
        gpus = found or gpus
    if len(gpus) <= 1 and not any(g.compute_capability or g.name for g in gpus):
        capability = report_gpus.told_capability(clues.text)
        gpus = (Gpu(compute_capability=capability),) if capability else gpus
    if machine.vendor == "amd" and not any(g.gfx for g in gpus):
        gpus = (report_gpus.amd_gpu(clues.text, rulebook.amd_products),)
    vendor = "nvidia" if gpus and machine.vendor in (None, "none") else machine.vendor
    return replace(machine, gpus=gpus, vendor=vendor)


def _each_once(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """The GPUs without those that only one tool counted and another one named."""
    told = [gpu for gpu in gpus if gpu.name or gpu.compute_capability]
    untold = [gpu for gpu in gpus if not (gpu.name or gpu.compute_capability)]
    return (*told, *untold[len(told) :])


def _nobody_home(clues: Clues) -> bool:
    """Whether somebody listed the hardware and no NVIDIA card was in the list."""
    for block in clues.found:
        if block.kind == "shell" and _LOOKED.search(block.command):
            return "nvidia" not in block.text.lower()
    return False


def gpu_words(gpus: Iterable[Gpu]) -> str:
    """The names of GPUs for a sentence."""
    return ", ".join(dict.fromkeys(g.name or f"a GPU of capability {g.compute_capability}" for g in gpus)) or "a GPU"
