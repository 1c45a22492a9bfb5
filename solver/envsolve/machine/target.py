"""Target: `--target T` as a Machine: a profile, pasted output in a file, or a one-line spec."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path

from envsolve.errors import InputError
from envsolve.machine.host import this_host
from envsolve.machine.machine import Machine
from envsolve.machine.merge import merge
from envsolve.machine.spec import EXAMPLE, KEYS, parse_spec

MOST_BYTES = 16 * 1024 * 1024  # a profile has a few KB, `nvidia-smi -q -x` of 16 GPUs under 1 MB
_SUFFIXES = (".json", ".txt", ".log", ".xml", ".csv", ".out", ".md", ".yml", ".yaml", ".toml")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_target(text: str, *, host: Machine | None = None) -> Machine:
    """The machine that T describes; os, arch and python that it leaves out are those of `host` (default: this one).

    T is a file, "-" (standard input), a one-line spec, or pasted text of several lines. Raises InputError for a file
    that is not there, a bad profile (with the field's path), a bad spec, or a text that says nothing of any GPU.
    """
    host = host or this_host()
    if text.strip() == "-":
        return parse_target(sys.stdin.read(), host=host, where="standard input")
    if "\n" in text.strip():
        return parse_target(text, host=host, where="the target")
    path = Path(text)
    if text.strip() and _is_there(path):
        return parse_target(_read(path), host=host, where=str(path))
    if looks_like_path(text):
        raise InputError(f"there is no file {text}", hint=f"a spec has no slashes: {EXAMPLE}")
    return merge([parse_spec(text)], host=host)


def parse_target(content: str, *, host: Machine, where: str) -> Machine:
    """The machine of a file's content: a profile where it is a JSON object, else pasted output."""
    # Each form is loaded only when it is there: a plan for a one-line spec compiles no parser.
    if content.lstrip("\ufeff \t\r\n").startswith("{"):
        from envsolve.machine.profile import parse_profile

        return parse_profile(content.lstrip("\ufeff"), host=host, where=where)
    from envsolve.machine.text import read_text

    return merge(read_text(content, where=where), host=host)


def looks_like_path(text: str) -> bool:
    """Whether a person who wrote this meant a file: a slash, a backslash, or the suffix of a text file. A slash between
    blanks, or before a key of a spec, is part of a card's name: "GTX 1650 Mobile / Max-Q,driver=550.54.14"."""
    name, *rest = text.replace(" / ", " ").split(",")
    if text.strip().lower().endswith(_SUFFIXES) or name.strip().lower().endswith(_SUFFIXES):
        return True
    spec = any(part.partition("=")[0].strip() in KEYS for part in rest) and not name.startswith((".", "/", "~"))
    return "\\" in text or ("/" in name and not spec) or any("/" in part for part in rest)


def decode(data: bytes) -> str:
    """Text of bytes as shells write them: UTF-8, PowerShell's UTF-16, else the old Windows code page."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, errors="replace")
    if data[:200].count(0) > len(data[:200]) // 3:
        return data.decode("utf-16-le", errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file system takes is no file
        return False


def _read(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file", hint=EXAMPLE)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}", hint=EXAMPLE) from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} is larger than {MOST_BYTES >> 20} MiB", hint="give the output of nvidia-smi alone")
    return decode(data)
