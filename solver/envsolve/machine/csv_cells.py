"""What the cells of nvidia-smi's csv hold, told by a header, by the query, or by their shape."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from envsolve.machine.words import is_unknown
from envsolve.regex import regex

COLUMNS = {
    "name": "name", "gpu_name": "name", "driver_version": "driver", "kmd_version": "driver", "compute_cap": "cc",
    "uuid": "uuid", "gpu_uuid": "uuid", "index": "index", "memory.total": "memory", "mig.mode.current": "mig",
}  # fmt: skip
_FIELD = regex(r"([a-z][a-zA-Z0-9_]*(?:\.[a-zA-Z0-9_]+)*)(?:\s+\[[^\]]{1,12}\])?")
_ASKED = regex(r"--query-gpu[= ]\s*[\"']?([a-zA-Z0-9_.,]+)")
_SHAPES = {
    "driver": regex(r"\d{3}\.\d{2,3}(?:\.\d{2})?", re.ASCII),
    "cc": regex(r"\d{1,2}\.\d", re.ASCII),
    "uuid": regex(r"GPU-[0-9a-fA-F-]{8,}"),
    "memory": regex(r"\d{1,9}\s*MiB", re.ASCII),
}
# Cells that queries often hold beside those that matter here: bus ids, numbers with units, states, modes.
_OTHER = regex(
    r"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d|0x[0-9A-F]+|-?\d+(?:\.\d+)?\s*(?:W|%|MHz|C|MiB)?|P\d{1,2}"
    r"|Enabled|Disabled|Default|Yes|No|Active|Not Active|WDDM|TCC|MCDM",
    re.IGNORECASE,
)
# How NVIDIA's names begin, and the words that they are made of: never lower-case prose.
_BRAND = regex(
    r"(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX|Orin|Xavier|Thor|Graphics|[ABHLTV]\d{1,3})(?![\w.]|-smi)"
)
_WORDS = regex(r"(?:(?:[A-Z0-9(][\w().+/-]*|with)(?:\s+|$)){1,10}(?:\.\.\.|…)?", re.ASCII)


def cells_of(line: str) -> list[str]:
    """The cells of a line, without the blanks around them; a spreadsheet has tabs in place of the commas."""
    mark = "," if "," in line else "\t"
    try:
        return [cell.strip() for cell in next(csv.reader([line.strip()], delimiter=mark, skipinitialspace=True), [])]
    except csv.Error:
        return []


def header(cells: Sequence[str]) -> list[str]:
    """What each column holds ("" = nothing of interest) when these cells are a header; [] otherwise."""
    names = [match[1] if (match := _FIELD.fullmatch(cell)) else "" for cell in cells]
    if not names or "" in names or not any(name in COLUMNS for name in names):
        return []
    return [COLUMNS.get(name, "") for name in names]


def asked(line: str) -> list[str]:
    """The columns that a pasted command line asks for; [] where it is none."""
    match = _ASKED.search(line)
    return [COLUMNS.get(name, "") for name in match[1].split(",") if name] if match else []


def fits(columns: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether the cells can stand below these columns: as many, and each of the right shape or unknown."""
    if not columns or len(cells) != len(columns) or not any(cells):
        return False
    alone = len(columns) == 1
    return all(_suits(column, cell, alone) for column, cell in zip(columns, cells, strict=True))


def _suits(column: str, cell: str, alone: bool) -> bool:
    if is_unknown(cell):
        return bool(cell)
    if column == "name" and alone:
        return is_name(cell)
    return column not in _SHAPES or column == "memory" or bool(_SHAPES[column].fullmatch(cell))


def shape(cells: Sequence[str]) -> list[str]:
    """What each cell holds by its shape alone; [] where a cell has no known shape or nothing tells that it is a row."""
    kinds = [_kind(cell) for cell in cells]
    if "?" in kinds or not kinds:
        return []
    if len(kinds) > 1 and kinds[0] == "" and cells[0].isdecimal() and len(cells[0]) < 4:
        kinds[0] = "index"
    kinds = _one_driver(kinds, cells)
    twice = any(kind and kinds.count(kind) > 1 for kind in kinds)
    return [] if twice or not {"name", "driver", "cc"} & set(kinds) else kinds


def is_name(cell: str) -> bool:
    """Whether a cell is a GPU's name and not a sentence about one."""
    numbered = any(c.isdigit() for c in cell) or "TITAN" in cell or "nvgpu" in cell or cell.endswith("Graphics Device")
    return bool(numbered and _BRAND.match(cell) and _WORDS.fullmatch(cell))


def _kind(cell: str) -> str:
    for kind, form in _SHAPES.items():
        if form.fullmatch(cell):
            return kind
    if is_unknown(cell) or _OTHER.fullmatch(cell):
        return "" if cell else "?"
    return "name" if is_name(cell) else "?"


def _one_driver(kinds: list[str], cells: Sequence[str]) -> list[str]:
    """A power of 125.30 looks like a driver too: beside 580.126.09 it is none, and two alike numbers are neither."""
    places = [i for i, kind in enumerate(kinds) if kind == "driver"]
    whole = [i for i in places if cells[i].count(".") == 2]
    if len(places) > 1:
        for place in places:
            kinds[place] = "driver" if [place] == whole else ""
    return kinds
