"""Symptoms: the messages of torch, installers, drivers and containers that the doctor knows. Never raises."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.symptoms_cuda import CUDA
from envsolve.doctor.symptoms_extension import EXTENSION
from envsolve.doctor.symptoms_host import HOST
from envsolve.doctor.symptoms_import import IMPORT
from envsolve.doctor.symptoms_install import INSTALL
from envsolve.doctor.symptoms_other import OTHER

TABLES = (CUDA, IMPORT, EXTENSION, HOST, INSTALL, OTHER)
_MOST = 12  # of one kind; a loop that fails repeats its message


def symptoms(text: str) -> tuple[Symptom, ...]:
    """Every known message, in the order of the text."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    lowered = _lowered(text)
    found: list[Symptom] = []
    for table in TABLES:
        for row in table:
            for match in islice(row.matches(text, lowered), _MOST):
                line = bisect_right(starts, match.start())
                found.append(Symptom(name=row.name, text=_line(text, match), line=line, groups=_groups(match)))
    return tuple(sorted(found, key=lambda s: s.line))


def _lowered(text: str) -> str:
    """The text in lower case, letter for letter: some letters have a longer small form."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value.strip() for name, value in match.groupdict().items() if value}


def _line(text: str, match: re.Match[str]) -> str:
    """The line that the message is on, whole, blanks squeezed."""
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    return " ".join(text[start : end if end >= 0 else len(text)].split())[:400]
