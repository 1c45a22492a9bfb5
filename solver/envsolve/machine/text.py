"""Pasted text: every form of nvidia-smi, collect_env and kernel output that a text holds, several at once too."""

from __future__ import annotations

import re

from envsolve.errors import InputError
from envsolve.machine.machine import Problem
from envsolve.machine.parse_collect_env import parse_collect_env
from envsolve.machine.parse_csv import parse_csv
from envsolve.machine.parse_failure import parse_failure
from envsolve.machine.parse_kernel import parse_kernel_log, parse_proc
from envsolve.machine.parse_list import parse_list
from envsolve.machine.parse_query import parse_query
from envsolve.machine.parse_table import parse_table
from envsolve.machine.parse_traces import parse_traces
from envsolve.machine.parse_xml import parse_xml
from envsolve.machine.reading import Reading
from envsolve.regex import regex

# In order of trust: what asks the driver itself first.
PARSERS = (
    parse_xml,
    parse_query,
    parse_table,
    parse_csv,
    parse_list,
    parse_collect_env,
    parse_proc,
    parse_kernel_log,
    parse_traces,
    parse_failure,
)
_ESCAPES = regex(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00\ufeff]")
_ABOUT = regex(r"nvidia|nvml|cuda|\bgpu\d*\b", re.IGNORECASE)
# What chats and terminals make of the frame of a table.
_FRAME = str.maketrans(
    {"│": "|", "┃": "|", "║": "|", "─": "-", "━": "-", "═": "=", **dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╪╫", "+")}
)
_UNREADABLE = Problem(code="unreadable", text="the text speaks of a GPU, but holds no output that can be read")


def read_text(text: str, *, where: str = "the text") -> list[Reading]:
    """All readings of a pasted text, best first. Raises InputError when it says nothing of any GPU."""
    text = tidy(text)
    readings = parse_text(text)
    if readings:
        return readings
    if _ABOUT.search(text):
        return [Reading(source="text", problems=(_UNREADABLE,))]
    raise InputError(
        f"{where}: neither a profile nor any output of nvidia-smi or collect_env",
        hint="nvidia-smi > smi.txt, then --target smi.txt",
    )


def parse_text(text: str) -> list[Reading]:
    """All readings of a text that is tidy already; [] where no form is known. Never raises."""
    return [reading for parse in PARSERS for reading in parse(text)]


def tidy(text: str) -> str:
    """The text without colours, byte-order marks and carriage returns, hard blanks and drawn lines as plain ones."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\xa0", " ").replace("\u202f", " ").translate(_FRAME)
