"""The table of nvidia-smi, from the plain frame of 2012 to the KMD/UMD banner of R610."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envsolve.machine.machine import Gpu, Os, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import dotted, is_lost, is_tegra, is_unknown, lost, mebibytes, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "nvidia-smi table"
_BANNER = regex(
    r"NVIDIA-SMI\s+(?P<client>\S+)[\s|]+(?:Driver|KMD)\s+Version:\s*(?P<driver>[^\s|]+)"
    r"(?:[\s|]+CUDA\s+(?:UMD\s+)?Version:\s*(?P<cuda>[^\s|]+))?"
)
_HEADER = regex(r"\bGPU\s+Name\b|\bNb\.\s+Name\b")
# A row of a card: number, name with the mode column behind it, then the bus id.
_ROW = regex(r"\|\s*(?P<index>\d{1,3})\.?\s+(?P<name>\S[^|]*?)\s*\|\s*(?P<bus>[^|]*)")
_BUS = regex(r"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F]", re.IGNORECASE)
# The column beside the name: persistence mode on Linux, driver model on Windows.
_MODE = regex(r"\s+(?:Off|On|N/A|\[N/A\]|ERR!|Enabled|Disabled|TCC|WDDM|MCDM)$")
_MODEL = regex(r"\s(?:TCC|WDDM|MCDM)$")
_MEMORY = regex(r"/\s*(\d+\s*MiB)")
_OTHER_BLOCK = regex(r"\b(?:MIG devices|(?:Compute )?[Pp]rocesses):?\s|\bGPU\s+GI\s+CI\b|\bGPU\s+PID\b")


def parse_table(text: str) -> list[Reading]:
    """One reading for each table in the text: driver, the driver's CUDA and the cards; [] where there is none."""
    blocks = list(_blocks(text))
    return [r for banner, lines in blocks if (r := _reading(banner, lines)) is not None]


def _blocks(text: str) -> Iterator[tuple[re.Match[str] | None, list[str]]]:
    """The text cut at each banner; what stands before the first one may be a table whose banner was not pasted."""
    banners = list(_BANNER.finditer(text))
    starts = [0, *(b.start() for b in banners)]
    ends = [*starts[1:], len(text)]
    for banner, start, end in zip([None, *banners], starts, ends, strict=True):
        yield banner, text[start:end].splitlines()


def _reading(banner: re.Match[str] | None, lines: Sequence[str]) -> Reading | None:
    rows = list(_rows(lines, in_cards=banner is not None))
    if banner is None and not rows:
        return None
    gpus = tuple(gpu for gpu, _ in rows)
    head = " ".join(line for line in lines if _HEADER.search(line))
    os = _os(head, lines)
    return Reading(
        source=SOURCE,
        os=os,
        driver=dotted(banner["driver"]) if banner else None,
        cuda_max=dotted(banner["cuda"]) if banner else None,
        gpus=gpus if gpus or banner is None else None,
        wsl=_wsl(banner, os),
        tegra=True if any(is_tegra(gpu.name or "") for gpu in gpus) else None,
        vendor="nvidia",
        problems=tuple(problem for _, problem in rows if problem),
    )


def _os(head: str, lines: Sequence[str]) -> Os | None:
    """Only Windows has a driver model (TCC/WDDM) beside the name, only Linux a persistence mode."""
    named = (row["name"] for line in lines if (row := _ROW.search(line)))
    if "Driver-Model" in head or "TCC/WDDM" in head or any(map(_MODEL.search, named)):
        return "windows"
    return "linux" if "Persistence-M" in head else None


def _wsl(banner: re.Match[str] | None, os: Os | None) -> bool | None:
    """A Linux client under another driver's number is WSL: there the driver is the one of Windows."""
    if banner is None or os != "linux":
        return None
    client, driver = dotted(banner["client"]), dotted(banner["driver"])
    return True if client and driver and client != driver and len(driver.parts) == 2 else None


def _rows(lines: Sequence[str], *, in_cards: bool) -> Iterator[tuple[Gpu, Problem | None]]:
    """The cards of one table; MIG devices and processes are no cards."""
    for position, line in enumerate(lines):
        if _HEADER.search(line):
            in_cards = True
        elif _OTHER_BLOCK.search(line):
            in_cards = False
        row = _ROW.search(line)
        if row and _is_card(row, in_cards):
            yield _card(row, lines[position + 1 : position + 4])


def _is_card(row: re.Match[str], in_cards: bool) -> bool:
    if _BUS.match(row["bus"]):
        return True
    return in_cards and bool(row["bus"].strip()) and is_unknown(row["bus"].split()[0])


def _card(row: re.Match[str], below: Sequence[str]) -> tuple[Gpu, Problem | None]:
    index = int(row["index"])
    printed = _MODE.sub("", row["name"])
    gpu = named_gpu(printed, index=index)
    problem = lost(index) if is_lost(printed) else None
    return replace(gpu, memory_bytes=_memory(below), mig=_mig(below)), problem


def _memory(below: Sequence[str]) -> int | None:
    cells = _cells(below[0]) if below else []
    found = _MEMORY.search(cells[1]) if len(cells) > 1 else None
    return mebibytes(found[1]) if found else None


def _mig(below: Sequence[str]) -> bool:
    """The third line of a card ends with the MIG mode."""
    cells = _cells(below[1]) if len(below) > 1 else []
    return len(cells) > 2 and cells[2].strip() == "Enabled"


def _cells(line: str) -> list[str]:
    """The cells of a line; whatever stands before the frame (a quotation's mark) is none."""
    return line[line.find("|") + 1 :].rstrip().rstrip("|").split("|")
