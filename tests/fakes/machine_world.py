"""A whole machine as a folder: files, links, a PCI bus, commands and NVML, handed to detection as a Probe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml

from envsolve.machine.probe import Probe, Ran


@dataclass
class World:
    """Build it up, then ask for its probe(). Commands are found by a piece of their command line."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    commands: dict[str, Ran] = field(default_factory=lambda: {"libcuda_child": Ran(status=0, out='{"library": null}')})
    asked: list[str] = field(default_factory=list)
    nvml: Any = None
    tags: tuple[str, ...] = ("linux_x86_64", "manylinux_2_35_x86_64")

    def file(self, path: str, text: str = "") -> World:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return self

    def card(
        self, vendor: str, device: str, *, driver: str = "", address: str = "0000:01:00.0", kind: str = "0x030000"
    ) -> World:
        """A device on the PCI bus, bound to a driver or to none."""
        folder = f"/sys/bus/pci/devices/{address}"
        for name, text in {"vendor": f"0x{vendor}\n", "device": f"0x{device}\n", "class": f"{kind}\n"}.items():
            self.file(f"{folder}/{name}", text)
        if driver:
            (self.root / folder.lstrip("/") / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        return self

    def says(self, piece: str, out: str, *, status: int | None = 0, err: str = "") -> World:
        """What a command prints whose command line contains this piece."""
        self.commands[piece] = Ran(status=status, out=out, err=err)
        return self

    def probe(self, system: str = "linux", processor: str = "x86_64") -> Probe:
        return Probe(
            root=self.root,
            environ=self.environ,
            run=self._run,
            nvml=self._load_nvml,
            wheel_tags=lambda: self.tags,
            system=system,
            processor=processor,
        )

    def _run(self, command: Sequence[str], seconds: float) -> Ran:
        line = " ".join(command)
        self.asked.append(line)
        return next((ran for piece, ran in self.commands.items() if piece in line), Ran(status=None, err="not there"))

    def _load_nvml(self) -> Any:
        if self.nvml is None:
            raise ImportError("no NVML in this world")
        return self.nvml


class FakeNvml:
    """The calls of nvidia-ml-py that envsolve makes; what a card does not hold, an old driver does not know."""

    NVMLError = pynvml.NVMLError

    def __init__(
        self, cards: Sequence[Mapping[str, Any]] = (), *, driver: str = "580.65.06", cuda: int = 13000, init: int = 0
    ) -> None:
        self.cards = cards
        self.driver, self.cuda, self.init = driver, cuda, init
        self.running = False

    def nvmlInit(self) -> None:
        if self.init:
            raise pynvml.NVMLError(self.init)
        self.running = True

    def nvmlShutdown(self) -> None:
        self.running = False

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return self.cuda

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Mapping[str, Any]:
        if "lost" in self.cards[index]:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return self.cards[index]

    def __getattr__(self, name: str) -> Callable[[Mapping[str, Any]], Any]:
        keys = {
            "nvmlDeviceGetName": "name",
            "nvmlDeviceGetCudaComputeCapability": "cc",
            "nvmlDeviceGetUUID": "uuid",
            "nvmlDeviceGetMigMode": "mig",
            "nvmlDeviceGetMemoryInfo": "memory",
        }
        if name not in keys:
            raise AttributeError(name)

        def ask(card: Mapping[str, Any]) -> Any:
            value = card.get(keys[name])
            if value is None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
            return SimpleNamespace(total=value) if name.endswith("MemoryInfo") else value

        return ask


def card(name: str, cc: tuple[int, int] | None, number: int = 1, **more: Any) -> dict[str, Any]:
    """A card for FakeNvml; cc None is an old driver that does not know the call."""
    return {"name": name, "cc": cc, "uuid": f"GPU-00000000-0000-0000-0000-{number:012d}", "memory": 8 << 30, **more}
