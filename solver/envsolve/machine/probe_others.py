"""GPUs that are not NVIDIA's: AMD by KFD, Intel by its driver, Apple silicon by the system."""

from __future__ import annotations

import re

from envsolve.machine.machine import Gpu
from envsolve.machine.pci import Card, cards
from envsolve.machine.probe import Probe
from envsolve.machine.reading import Reading

INTEL = "8086"
_NODES = "/sys/class/kfd/kfd/topology/nodes"
_INTEL_DRIVERS = ("xe", "i915")
_INTEGRATED = "0000:00:02.0"  # where Intel puts the graphics of its processors


def read_amd(probe: Probe) -> list[Reading]:
    """AMD GPUs that the compute driver (KFD) lists, by their gfx target."""
    found = []
    for node in probe.list(_NODES):
        gfx = parse_kfd(probe.read(f"{_NODES}/{node}/properties") or "")
        if gfx:
            found.append(Gpu(gfx=gfx, name=_amd_name(probe, node)))
    return [Reading(source="KFD", gpus=tuple(found), vendor="amd")] if found else []


def parse_kfd(properties: str) -> str | None:
    """The gfx target of a KFD node: gfx_target_version 90402 is gfx942; None for CPUs (no SIMDs)."""
    values = dict(re.findall(r"^(\w+) (\d+)$", properties, re.MULTILINE))
    number = int(values.get("gfx_target_version", "0"))
    if not number or values.get("simd_count") == "0":
        return None
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"


def _amd_name(probe: Probe, node: str) -> str | None:
    minor = re.search(r"^drm_render_minor (\d+)$", probe.read(f"{_NODES}/{node}/properties") or "", re.MULTILINE)
    name = probe.read(f"/sys/class/drm/renderD{minor[1]}/device/product_name") if minor else None
    return (name or "").strip() or None


def read_intel(probe: Probe) -> list[Reading]:
    """Intel GPUs that PyTorch's xpu builds may serve: cards of their own, and what the xe driver has.

    The graphics inside older processors (i915 at the usual address) are nobody's compute device.
    """
    found = [card for card in cards(probe, INTEL) if _computes(card)]
    gpus = tuple(Gpu(name=card.name) for card in found)
    return [Reading(source="PCI bus", gpus=gpus, vendor="intel")] if found else []


def _computes(card: Card) -> bool:
    return card.driver == "xe" or (card.driver in _INTEL_DRIVERS and card.address != _INTEGRATED)
