"""nvidia-smi --query-gpu=… --format=csv: columns in any order, with or without header and units."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import capability, dotted, is_lost, is_unknown, lost, mebibytes, named_gpu

SOURCE = "nvidia-smi csv"
_KNOWN = {
    "name": "name", "gpu_name": "name", "driver_version": "driver", "kmd_version": "driver", "compute_cap": "cc",
    "uuid": "uuid", "gpu_uuid": "uuid", "index": "index", "memory.total": "memory", "mig.mode.current": "mig",
}  # fmt: skip
_FIELD = re.compile(r"([a-z][a-zA-Z0-9_]*(?:\.[a-zA-Z0-9_]+)*)(?:\s+\[[^\]]{1,12}\])?")
_ASKED = re.compile(r"--query-gpu[= ]\s*[\"']?([a-zA-Z0-9_.,]+)")
_DRIVER = re.compile(r"\d{3}\.\d{2,3}(?:\.\d{2})?", re.ASCII)
_CAPABILITY = re.compile(r"\d{1,2}\.\d", re.ASCII)
_UUID = re.compile(r"(?:GPU|MIG)-[0-9a-fA-F-]{8,}")
_MEMORY = re.compile(r"\d{1,9}\s*MiB", re.ASCII)
# Cells that queries often hold beside those that matter here: bus ids, numbers with units, states, modes.
_OTHER = re.compile(
    r"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.\d|0x[0-9A-F]+|-?\d+(?:\.\d+)?\s*(?:W|%|MHz|C|MiB)?|P\d{1,2}"
    r"|Enabled|Disabled|Default|Yes|No|Active|Not Active|WDDM|TCC|MCDM",
    re.IGNORECASE,
)
_BRAND = re.compile(
    r"(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX|Orin|Xavier|Thor|Graphics Device|[ABHLTV]\d{1,3}\b)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z0-9][\w .()/+-]{0,70}(?:\.\.\.|…)?", re.ASCII)

Row = Mapping[str, str]


def parse_csv(text: str) -> list[Reading]:
    """One reading for each csv block in the text; [] where there is none.

    Columns come from the header, else from the command line pasted above the rows, else from the shape of the cells.
    """
    blocks = [rows for rows in _blocks(text.splitlines()) if rows]
    return [_reading(rows) for rows in blocks]


def _reading(rows: Sequence[Row]) -> Reading:
    drivers = (driver for row in rows if (driver := dotted(row.get("driver"))))
    cards = [_gpu(row, position) for position, row in enumerate(rows)]
    return Reading(
        source=SOURCE,
        driver=next(drivers, None),
        gpus=tuple(gpu for gpu, _ in cards),
        vendor="nvidia",
        problems=tuple(problem for _, problem in cards if problem),
    )


def _gpu(row: Row, position: int) -> tuple[Gpu, Problem | None]:
    number, uuid = row.get("index", ""), row.get("uuid", "")
    index = int(number) if number.isdecimal() and number.isascii() else None
    gpu = named_gpu(row.get("name"), index=index, uuid=None if is_unknown(uuid) else uuid)
    gpu = replace(
        gpu,
        compute_capability=capability(row.get("cc")),
        memory_bytes=mebibytes(row.get("memory")),
        mig=row.get("mig") == "Enabled",
    )
    return gpu, lost(position) if is_lost(row.get("name")) else None


def _blocks(lines: Sequence[str]) -> Iterator[list[Row]]:
    """The rows of each block; a block ends at the first line that does not continue it."""
    position, asked = 0, None
    while position < len(lines):
        cells = _cells(lines[position])
        columns = _header(cells)
        if columns:
            rows = list(_under(columns, lines[position + 1 :]))
            asked = None
        elif asked and _fits(asked, cells):
            rows = list(_under(asked, lines[position:]))
            columns, position, asked = None, position - 1, None
        else:
            rows = list(_shaped_rows(lines[position:]))
            position -= 1 if rows else 0
            asked = _asked(lines[position]) if not rows else None
        yield rows
        position += len(rows) + 1


def _cells(line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True), [])]
    except csv.Error:
        return []


def _header(cells: Sequence[str]) -> list[str]:
    """What each column holds, when these cells are a header; [] otherwise."""
    names = [match[1] if (match := _FIELD.fullmatch(cell)) else "" for cell in cells]
    if not names or "" in names or not any(name in _KNOWN for name in names):
        return []
    return [_KNOWN.get(name, "") for name in names]


def _asked(line: str) -> list[str] | None:
    """The columns that a pasted command line asks for."""
    match = _ASKED.search(line)
    return [_KNOWN.get(name, "") for name in match[1].split(",")] if match else None


def _under(columns: Sequence[str], lines: Sequence[str]) -> Iterator[Row]:
    for line in lines:
        cells = _cells(line)
        if not _fits(columns, cells):
            return
        yield {column: cell for column, cell in zip(columns, cells, strict=True) if column}


def _fits(columns: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether the cells can stand below these columns: as many, and each known one of the right shape."""
    if len(cells) != len(columns) or not any(cells):
        return False
    shapes = {"driver": _DRIVER, "cc": _CAPABILITY, "uuid": _UUID, "name": _NAME}
    return all(
        is_unknown(cell) or column not in shapes or bool(shapes[column].fullmatch(cell))
        for column, cell in zip(columns, cells, strict=True)
    )


def _shaped_rows(lines: Sequence[str]) -> Iterator[Row]:
    """Rows without any header, told by the shape of their cells; all rows of a block have the same columns."""
    columns: list[str] = []
    for line in lines:
        cells = _cells(line)
        shape = _shape(cells)
        if not shape or (columns and not _agree(columns, shape)):
            return
        columns = columns or shape
        yield {column: cell for column, cell in zip(shape, cells, strict=True) if column}


def _agree(columns: Sequence[str], shape: Sequence[str]) -> bool:
    return len(columns) == len(shape)


def _shape(cells: Sequence[str]) -> list[str]:
    """What each cell holds; [] when a cell has no known shape, or nothing tells that this is a row at all."""
    shape = [_kind(cell) for cell in cells]
    if "?" in shape or not ({"name", "driver"} & set(shape)):
        return []
    if len(cells) > 1 and shape[0] == "" and cells[0].isdecimal() and len(cells[0]) < 4:
        shape[0] = "index"
    repeated = {kind for kind in shape if kind and shape.count(kind) > 1}
    return [] if repeated else shape


def _kind(cell: str) -> str:
    shapes = {"driver": _DRIVER, "cc": _CAPABILITY, "uuid": _UUID, "memory": _MEMORY}
    for kind, shape in shapes.items():
        if shape.fullmatch(cell):
            return kind
    if _OTHER.fullmatch(cell) or is_unknown(cell):
        return ""
    return "name" if _BRAND.match(cell) and _NAME.fullmatch(cell) else "?"
