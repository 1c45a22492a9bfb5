"""What Linux itself says of an NVIDIA GPU without any library: /proc/driver/nvidia, the PCI bus, Tegra, WSL."""

from __future__ import annotations

from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.parse_kernel import parse_proc
from envsolve.machine.pci import Card
from envsolve.machine.probe import Probe
from envsolve.machine.reading import Reading
from envsolve.machine.words import named_gpu

NVIDIA = "10de"
_PROC = "/proc/driver/nvidia"
_WSL_LIBRARY = "/usr/lib/wsl/lib/libcuda.so.1"
_SYSTEM_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
# Drivers that a card can be bound to in place of NVIDIA's own.
_OTHER_DRIVERS = {
    "nouveau": "the open nouveau driver has it, which cannot run CUDA",
    "nova_core": "the open nova driver has it, which cannot run CUDA",
    "vfio-pci": "it is set aside for a virtual machine (vfio-pci)",
}


def read_proc(probe: Probe) -> list[Reading]:
    """The loaded kernel module and its cards."""
    texts = [probe.read(f"{_PROC}/version")]
    texts += [probe.read(f"{_PROC}/gpus/{card}/information") for card in probe.list(f"{_PROC}/gpus")]
    return parse_proc("\n".join(text for text in texts if text) + "\n")


def read_board(probe: Probe) -> list[Reading]:
    """Tegra (release file, device tree) and WSL (kernel name)."""
    tree = probe.read("/proc/device-tree/compatible") or ""
    found = []
    if probe.exists("/etc/nv_tegra_release") or "nvidia,tegra" in tree:
        found.append(Reading(source="board", tegra=True))
    if is_wsl(probe):
        found.append(Reading(source="/proc/version", wsl=True))
    return found


def is_wsl(probe: Probe) -> bool:
    """Whether this Linux runs under Windows."""
    return "microsoft" in (probe.read("/proc/version") or "").lower()


def is_container(probe: Probe) -> bool:
    """Whether this is a container, where the host's bus and kernel module show through."""
    marks = ("/.dockerenv", "/run/.containerenv")
    return any(map(probe.exists, marks)) or bool(probe.environ.keys() & {"container", "KUBERNETES_SERVICE_HOST"})


def read_tegra_model(probe: Probe) -> list[Reading]:
    """The board's own name, for a Tegra whose GPU no library names."""
    model = (probe.read("/proc/device-tree/model") or "").strip("\0 \n")
    return [Reading(source="device tree", gpus=(named_gpu(model),), vendor="nvidia")] if model else []


def idle_cards(cards: list[Card], container: bool) -> Reading:
    """Cards on the bus that no NVIDIA driver answers for: said to be there, by name, with the reason."""
    problems = tuple(_idle(card, container) for card in cards)
    gpus = tuple(Gpu(name=card.name) for card in cards)
    return Reading(source="PCI bus", gpus=gpus, vendor="nvidia", problems=problems)


def _idle(card: Card, container: bool) -> Problem:
    if container:
        text = f"the host has an NVIDIA GPU, {card.label}, that is not handed into this container (docker: --gpus all)"
        return Problem(code="gpu-hidden", text=text)
    other = _OTHER_DRIVERS.get(card.driver or "")
    if other:
        return Problem(code="no-driver", text=f"an NVIDIA GPU is on the bus, {card.label}, but {other}")
    if card.driver == "nvidia":
        return Problem(code="unreadable", text=f"the NVIDIA driver has {card.label}, but its libraries do not answer")
    text = f"an NVIDIA GPU is on the bus, {card.label}, but no driver has it: install the NVIDIA driver"
    return Problem(code="no-driver", text=text)


def unserved(cards: list[Card], listed: int) -> tuple[Problem, ...]:
    """Fewer cards listed by the driver than are on the bus: those that another driver has, or that it ignores."""
    if len(cards) <= listed:
        return ()
    other = [card for card in cards if card.driver != "nvidia"]
    named = ", ".join(card.label for card in other) or "one of them"
    text = f"{len(cards)} NVIDIA GPUs are on the bus, the driver serves {listed}: not {named}"
    return (Problem(code="driver-ignores-gpu", text=text),)


def wsl_problems(probe: Probe) -> tuple[Problem, ...]:
    """What hides the Windows driver from WSL: no GPU device, or a Linux driver installed over its library."""
    if not is_wsl(probe):
        return ()
    if not probe.exists("/dev/dxg"):
        return (Problem(code="wsl-stub", text="WSL has no GPU device (/dev/dxg): WSL 1, or no GPU driver in Windows"),)
    if not probe.exists(_WSL_LIBRARY):
        return ()
    for folder in _SYSTEM_LIBRARIES:
        real = [name for name in probe.list(folder) if name.startswith("libcuda.so.") and name.count(".") > 2]
        if real:
            text = f"a Linux driver's {folder}/{real[0]} hides the library of the Windows driver: remove it from WSL"
            return (Problem(code="wsl-stub", text=text),)
    return ()
