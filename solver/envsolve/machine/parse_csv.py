"""nvidia-smi --query-gpu=… --format=csv: columns in any order, with or without header and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from envsolve.machine.csv_cells import asked, cells_of, fits, header, shape
from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import capability, dotted, is_lost, is_unknown, lost, mebibytes, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "nvidia-smi csv"
_ABOUT_DRIVER = regex(r"nvidia|driver", re.IGNORECASE)

Row = Mapping[str, str]


def parse_csv(text: str) -> list[Reading]:
    """One reading for each csv block in the text; [] where there is none.

    Columns come from the header, else from the command line pasted above the rows, else from the shape of the cells.
    """
    lines = text.splitlines()
    return [_reading(rows) for rows in _blocks(lines, _bare(lines)) if rows]


def _bare(lines: Sequence[str]) -> set[str]:
    """Which single-cell lines may stand without header or command: all where the text holds nothing else, driver
    numbers where it speaks of a driver."""
    told = [line for line in lines if line.strip()]
    if told and all(shape(cells_of(line)) for line in told):
        return {"name", "driver", "cc"}
    return {"driver"} if _ABOUT_DRIVER.search("\n".join(told)) else set()


def _blocks(lines: Sequence[str], bare: set[str]) -> Iterator[list[Row]]:
    """The rows of each block; a block ends at the first line that does not continue it."""
    position, columns = 0, list[str]()
    while position < len(lines):
        cells = cells_of(lines[position])
        if found := header(cells):
            rows = _under(found, lines[position + 1 :])
            position += 1
        elif fits(columns, cells):
            rows = _under(columns, lines[position:])
        else:
            rows = _shaped(lines[position:], bare)
        yield rows
        position += len(rows) or (0 if found else 1)
        columns = [] if rows else asked(lines[position - 1]) or columns * (not cells)


def _under(columns: Sequence[str], lines: Sequence[str]) -> list[Row]:
    rows = takewhile(lambda cells: fits(columns, cells), map(cells_of, lines))
    return [_row(columns, cells) for cells in rows]


def _shaped(lines: Sequence[str], bare: set[str]) -> list[Row]:
    """Rows told by the shape of their cells; all rows of a block have as many."""
    rows: list[Row] = []
    width = 0
    for cells in map(cells_of, lines):
        columns = shape(cells)
        if not columns or (width and len(cells) != width) or (len(cells) == 1 and columns[0] not in bare):
            break
        width = len(cells)
        rows.append(_row(columns, cells))
    return rows


def _row(columns: Sequence[str], cells: Sequence[str]) -> Row:
    return {column: cell for column, cell in zip(columns, cells, strict=True) if column}


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
