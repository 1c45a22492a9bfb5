"""The README's section on what a project is for, between two marks; what stands around them is left alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envsolve.errors import InputError
from envsolve.record import record
from envsolve.regex import regex

START = "<!-- envsolve init: what stands between these two lines is written anew -->"
END = "<!-- envsolve init: end -->"
_SECTION = regex(re.escape(START) + r".*?" + re.escape(END), re.DOTALL)


@record
class JudgedFor:
    """A row of the table: the machine in words, its Python, the torch of its lock, how each card runs it, the lock."""

    machine: str
    python: str
    torch: str
    runs: str
    lock: str


def with_section(text: str, rows: Sequence[JudgedFor]) -> str:
    """A README's text with the section: in place of the one that is there, else at its end.

    Raises InputError where one of the two marks is gone: what belongs to whom can't be told then.
    """
    if text.count(START) != text.count(END):
        lost = END if text.count(START) > text.count(END) else START
        raise InputError("README.md has lost one of the marks of envsolve's section", hint=f"put it back: {lost}")
    newline = "\r\n" if "\r\n" in text else "\n"
    section = newline.join([START, *_lines(rows), END])
    if _SECTION.search(text):
        return _SECTION.sub(lambda _: section, text, count=1)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{section}{newline}"


def _lines(rows: Sequence[JudgedFor]) -> list[str]:
    files = list(dict.fromkeys(row.lock for row in rows))
    return [
        "## Tested on",
        "",
        "| machine | Python | torch | runs as | lock |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {_cell(row.machine)} | {row.python} | {row.torch} | {_cell(row.runs)} | `{_cell(row.lock)}` |"
            for row in rows
        ),
        "",
        f"The locks are judged for these machines: `envsolve install --lock {files[0]}` makes the environment and",
        "proves it on the GPU, `envsolve check` says whether the locks still fit.",
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
