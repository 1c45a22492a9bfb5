"""Small traces in a pasted text: the Tegra release file, the kernel's name under WSL, lspci lines."""

from __future__ import annotations

import re

from envsolve.machine.reading import Reading
from envsolve.machine.words import named_gpu
from envsolve.regex import regex

_TEGRA = regex(r"^[\s>]*# R\d+ \(release\), REVISION: ", re.MULTILINE)
_WSL = regex(r"microsoft-standard(?:-WSL2)?|-Microsoft #\d", re.IGNORECASE)
_LSPCI = regex(
    r"^.{0,20}?[0-9a-f]{2}:[0-9a-f]{2}\.\d (?:VGA compatible controller|3D controller|Display controller)"
    r"(?: \[\d{4}\])?: NVIDIA Corporation (?:\S+ )?(?:\[([^\]]+)\]|Device [0-9a-f]{4})",
    re.MULTILINE | re.IGNORECASE,
)


def parse_traces(text: str) -> list[Reading]:
    """One reading for each kind of trace that is there."""
    found = []
    if _TEGRA.search(text):
        found.append(Reading(source="nv_tegra_release", os="linux", tegra=True, vendor="nvidia"))
    if _WSL.search(text):
        found.append(Reading(source="kernel name", os="linux", wsl=True))
    return [*found, *parse_lspci(text)]


def parse_lspci(text: str) -> list[Reading]:
    """The NVIDIA cards of lspci, by the name in brackets; nameless where lspci knows the number only."""
    cards = tuple(named_gpu(match[1]) for match in _LSPCI.finditer(text))
    return [Reading(source="lspci", os="linux", gpus=cards, partial=True, vendor="nvidia")] if cards else []
