"""Frames: the files that tracebacks and the dynamic linker name. Never raises."""

from __future__ import annotations

import re

from envsolve.doctor.evidence import Frame
from envsolve.regex import regex

_PYTHON = regex(r"(?:File|❱|│)\s+[\"']?([^\"'\n│]{1,300}?\.pyx?)[\"']?(?:,\s+line\s+|:)(\d+)")
_NATIVE = regex(r"((?:[A-Za-z]:)?[\w./\\+~-]{0,300}\.(?:cu|cpp|cuh|cc|h|cxx))[:(](\d+)")
_LIBRARY = regex(r"((?:[A-Za-z]:)?[\w./\\+~-]{0,300}\.(?:so(?:\.\d+)*|dll|pyd|dylib))\b")
_SITE = regex(r"(?:site|dist)-packages[/\\]([A-Za-z_][\w-]*)")


def frames(text: str) -> tuple[Frame, ...]:
    """Every file, in the order of the text."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for pattern in (_PYTHON, _NATIVE, _LIBRARY):
            found += [Frame(path=match[1].strip(), line=number) for match in pattern.finditer(line[:2000])]
    return tuple(found)


def module_of(path: str) -> str:
    """The top-level module of a file below site-packages, "" for others."""
    match = _SITE.search(path)
    return match[1] if match else ""


def site_of(path: str) -> str:
    """The site-packages folder that a file lies in, "" for others."""
    match = re.search(r"^(.*?(?:site|dist)-packages)(?:[/\\]|$)", path)
    return match[1] if match else ""
