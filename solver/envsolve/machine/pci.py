"""Cards on the PCI bus as Linux shows them, with their names from pci.ids where that is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.machine.probe import Probe
from envsolve.record import record
from envsolve.regex import regex

_DEVICES = "/sys/bus/pci/devices"
_PCI_IDS = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/var/lib/pciutils/pci.ids")
_DISPLAY = "0x03"  # PCI base class 3: VGA, 3D and other display controllers
_BRACKET = regex(r".*\[(.+)\]\s*$")


@record
class Card:
    """A display controller: bus address, vendor and device id ("10de", "2684"), bound driver, name in pci.ids."""

    address: str
    vendor: str
    device: str
    driver: str | None
    name: str | None

    @property
    def label(self) -> str:
        """The name with the id, or the id alone."""
        number = f"{self.vendor}:{self.device}"
        return f"{self.name} ({number})" if self.name else f"PCI device {number}"


def has_bus(probe: Probe) -> bool:
    """Whether the system shows its PCI bus at all (sandboxes, WSL and some boards do not)."""
    return next(iter(probe.list(_DEVICES)), None) is not None


def cards(probe: Probe, vendor: str) -> list[Card]:
    """The display controllers of a vendor ("10de" NVIDIA, "8086" Intel), in the order of the bus."""
    found = list(_cards(probe, vendor))
    if not found:
        return []
    ids = next((text for path in _PCI_IDS if (text := probe.read(path))), "")
    return [
        Card(address=a, vendor=vendor, device=device, driver=driver, name=name_of(ids, vendor, device))
        for a, device, driver in found
    ]


def _cards(probe: Probe, vendor: str) -> Iterator[tuple[str, str, str | None]]:
    for address in probe.list(_DEVICES):
        folder = f"{_DEVICES}/{address}"
        kind, maker, device = (probe.read(f"{folder}/{file}") or "" for file in ("class", "vendor", "device"))
        if kind.startswith(_DISPLAY) and maker.strip() == f"0x{vendor}":
            yield address, device.strip().removeprefix("0x"), probe.link(f"{folder}/driver")


def name_of(ids: str, vendor: str, device: str) -> str | None:
    """The product name of a device in pci.ids: "AD102 [GeForce RTX 4090]" is GeForce RTX 4090."""
    block = re.search(rf"^{re.escape(vendor)}  .*\n((?:[\t#].*\n|\n)*)", ids, re.MULTILINE)
    line = re.search(rf"^\t{re.escape(device)}  (.*)$", block[1], re.MULTILINE) if block else None
    if line is None:
        return None
    product = _BRACKET.fullmatch(line[1])
    return (product[1] if product else line[1]).strip()
