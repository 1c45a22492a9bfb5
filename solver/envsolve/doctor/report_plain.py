"""Plain: a pasted text without what a log, a chat or a compose file puts in front of each line. Never raises."""

from __future__ import annotations

import html
import re
from collections import Counter
from itertools import pairwise

from envsolve.machine.text import tidy
from envsolve.regex import regex

_TIME = regex(
    r"^\s{0,4}\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?: ?\[?(?:INFO|ERROR"
    r"|WARN(?:ING)?|DEBUG)\]?:?)?(?: |$)"
)
# What docker's builder puts in front: "#12 61.32 Killed", "1.912 ERROR: …".
_BUILDER = regex(
    r"^\s{0,4}(?:=> )?(?:#\d+ (?:\d+\.\d{1,3} )?"
    r"|\d+\.\d{1,3} (?=(?:ERROR|WARNING|INFO|Collecting|Looking|Killed|Traceback|Successfully|Installing)\b))"
)
# The kernel wraps its own messages and begins each line anew.
_KERNEL = regex(r"^(?:\s*\[[^\]\n]{1,20}\])?\s*NVRM:\s+(?=[a-z]|NVIDIA \d)")
_QUOTE = regex(r"^\s{0,3}>(?: |$)")
_SERVICE = regex(r"^([\w.-]{2,40}?)\s*\|\s")
# A row of a table of two columns, as Markdown writes it: "| Driver | 550.54 |".
_TWO_CELLS = regex(r"^\s*\|\s*([^|]{1,60}?)\s*\|\s*([^|]{1,200}?)\s*\|\s*$")
_PACKAGE = regex(r"[a-z][\w.-]*")
_QUOTE_SIGNS = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_ENTITY = regex(r"&(?:gt|lt|amp|quot|#39|#x27);")
_NUMBER = regex(r"^ {0,4}(\d{1,4})(?:[:.|]? {1,2}|[:.|]?$|\t)")
_WIDTHS = (80, 100, 120, 132)
_FEW = 5  # fewer lines show no habit
_LONG_WORD = regex(r"\S{400,}")  # a hash, a progress bar, a line of base64
_MOST_IN_LINE = 6000
# What a command printed, behind an arrow: `python -c "…" -> True`.
_ARROW = regex(r"(?<=[\"'])\s+-+>\s+(?=\S)")
_FENCE = regex(r"^\s*(?:```+|~~~+)\w*\s*$")


def plain(text: str) -> str:
    """The text, line for line, without colours, times, quote signs, names of services and fences."""
    lines = [line.rstrip() for line in _unescaped(tidy(text)).translate(_QUOTE_SIGNS).split("\n")]
    lines = _numberless(_unwrapped(_single_spaced(lines)))
    # A log of a log has two times.
    lines = [_KERNEL.sub("", _BUILDER.sub("", _TIME.sub("", _TIME.sub("", _shortened(line))))) for line in lines]
    if sum(line.startswith(">") and line[1:2] in (" ", "") for line in lines) >= 3:
        lines = [_QUOTE.sub("", line) for line in lines]
    services = Counter(match[1] for line in lines if (match := _SERVICE.match(line)))
    often = {name for name, count in services.items() if count >= 2 and not name.isdecimal()}
    lines = ["" if _FENCE.match(line) else _without_service(line, often) for line in lines]
    return "\n".join(_ARROW.sub("\n", _TWO_CELLS.sub(_cells, line)) for line in lines)


def _unescaped(text: str) -> str:
    """A web page's "&gt;&gt;&gt;" as the signs that are meant."""
    return html.unescape(text) if _ENTITY.search(text) else text


def _single_spaced(lines: list[str]) -> list[str]:
    """The lines without the empty ones that a mail program or a forum put between them all."""
    spaced = len(lines) >= _FEW and not any(lines[1::2])
    return lines[::2] if spaced else lines


def _unwrapped(lines: list[str]) -> list[str]:
    """The lines whole again where a terminal cut them all at its width: many end just there, none goes beyond."""
    width = max(map(len, lines))
    full = sum(len(line) == width for line in lines)
    almost = sum(width - 8 < len(line) < width for line in lines)
    if width not in _WIDTHS or full < 2 or almost >= full:
        return lines
    whole, held = [], ""
    for line in lines:
        held += line
        if len(line) < width:
            whole.append(held)
            held = ""
    return [*whole, held] if held else whole


def _numberless(lines: list[str]) -> list[str]:
    """The lines without the numbers that an editor counts them with."""
    found = [_NUMBER.match(line) for line in lines if line]
    numbers = [int(match[1]) for match in found if match]
    rising = len(numbers) == len(found) >= 2 and all(b > a for a, b in pairwise(numbers))
    counted = rising and (len(found) >= _FEW or numbers == list(range(1, len(found) + 1)))
    return [_NUMBER.sub("", line) for line in lines] if counted else lines


def _shortened(line: str) -> str:
    """A line that no pattern chokes on: both ends of very long words and of a very long line."""
    if len(line) < 400:
        return line
    line = _LONG_WORD.sub(lambda match: f"{match[0][:200]}…{match[0][-150:]}", line)
    return line if len(line) <= _MOST_IN_LINE else f"{line[: _MOST_IN_LINE // 2]} … {line[-_MOST_IN_LINE // 2 :]}"


def _cells(match: re.Match[str]) -> str:
    """A package and its version as a list shows them, anything else with a colon."""
    name, value = match[1].strip("*` "), match[2].strip("*` ")
    return f"{name}  {value}" if _PACKAGE.fullmatch(name) and value[:1].isdecimal() else f"{name}: {value}"


def _without_service(line: str, often: set[str]) -> str:
    match = _SERVICE.match(line)
    return line[match.end() :] if match and match[1] in often else line
