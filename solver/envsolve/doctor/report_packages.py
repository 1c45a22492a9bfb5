"""Packages: what lists, installers and metadata in a text say is installed. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.utils import canonicalize_name

from envsolve.doctor.evidence import Change, Installed
from envsolve.doctor.report_blocks import Block
from envsolve.record import replace
from envsolve.regex import regex

_VERSION = r"\d+(?:\.\d+)+[\w.+!-]*|\d{4}\.\d+\S*|\d+"
# "torch   2.1.0+cu118", with conda's build and channel, or pip's editable location, behind it.
_ROW = regex(rf"^\s*([A-Za-z][\w.-]*)\s+({_VERSION})(?:\s+(\S+))?(?:\s+(\S+))?\s*$")
_PIXI = regex(rf"^\s*([A-Za-z][\w.-]*)\s+({_VERSION})\s+(\S+)\s+[\d.]+ ?[KMG]?i?B\s+(conda|pypi)\b")
_FREEZE = regex(rf"^\s*([A-Za-z][\w.-]*)\s*==\s*({_VERSION})\s*$")
_COLLECT = regex(
    rf"^\s*\[(?:pip3?|conda|uv)\]\s+([A-Za-z][\w.-]*)\s*(?:==|\s)\s*({_VERSION})(?:\s+(\S+))?(?:\s+(\S+))?\s*$"
)
_SATISFIED = regex(
    r"^\s*Requirement already (?:satisfied|up-to-date): ([\w.-]+)\S*.*?(?:\sin\s(.+?))?\s.*\((\d[\w.+!-]*)\)\s*$"
)
_SHOW = regex(r"\bpip[\d.]*\s+show\s+(?:-\S+\s+)*([\w.-]+)")
_SHOW_NAME = regex(r"^\s*Name:\s*([\w.-]+)\s*$")
_SHOW_VERSION = regex(r"^\s*Version:\s*(\S+)\s*$")
_SHOW_LOCATION = regex(r"^\s*(?:Editable project l|L)ocation:\s*(.+?)\s*$")
_DIST_INFO = regex(r"\b([A-Za-z][\w.]*)-(\d[\w.+!]*?)(?:-py3[\d.]*)?\.(?:dist|egg)-info\b")
_LISTS = regex(
    r"(?:\b(?:pip[\d.]*|uv\s+pip|conda|mamba|micromamba|pixi)\s+(?:-\S+\s+)?(?:list|freeze)\b|\bpdm list\b"
    r"|\bpoetry show\b"
    r"|importlib\.metadata)"
)
_HEADER = regex(r"^\s*(?:Package\s+Version|#\s*Name\s+Version|packages in environment|# packages in environment)", re.I)
_RULE = regex(r"^\s*-{3,}[\s-]*$")
# Outside a list a row is believed only for these: their names do not occur in prose with a number behind them.
_FAMILY = regex(
    r"^(?:torch(?:[-_]?\w+)*|pytorch(?:-\w+)*|cudatoolkit|cuda-(?:version|toolkit|runtime)|triton(?:-\w+)?"
    r"|nvidia-[\w-]+|numpy|xformers"
    r"|flash[-_]attn|bitsandbytes|mkl|cudnn|libtorch|onnxruntime(?:-gpu)?|ctranslate2|vllm|llama[-_]cpp[-_]python)$",
    re.I,
)


def packages(text: str, found: Iterable[Block], changed: Iterable[Change]) -> tuple[Installed, ...]:
    """Every statement about an installed package, in the order of the text."""
    found = list(found)
    listed = [row for block in found for row in (*_listed(block), *_shown(block))]
    said = [*listed, *_everywhere(text), *_installers(changed)]
    return tuple(dict.fromkeys(sorted(said, key=lambda p: p.line)))


def last_state(history: Iterable[Installed]) -> dict[str, Installed]:
    """The package as last stated. A later installer run outranks an earlier list, a list an earlier run; of two
    statements in the same place the one that shows the label is kept."""
    state: dict[str, Installed] = {}
    for row in history:
        before = state.get(row.name)
        if before is not None and _says_less(row, before):
            continue
        state[row.name] = row
    return state


def _says_less(row: Installed, before: Installed) -> bool:
    """pip lists 2.6.0 for what Python prints as 2.6.0+cu124: the same, with less detail."""
    return row.public == before.public and not row.label and bool(before.label or before.build)


def _listed(block: Block) -> Iterator[Installed]:
    """The rows of a list command, or below the header of one."""
    inside = block.kind == "shell" and bool(_LISTS.search(block.command))
    for offset, line in enumerate(block.output, 1):
        if _HEADER.match(line):
            inside = True
        elif inside and (match := _ROW.match(line) or _PIXI.match(line) or _FREEZE.match(line)):
            yield _row(match, block.line + offset)
        elif inside and line.strip() and not _RULE.match(line) and not line.lstrip().startswith("#"):
            inside = block.kind == "shell" and bool(_LISTS.search(block.command))


def _shown(block: Block) -> Iterator[Installed]:
    """What `pip show NAME` says where somebody cut its first line off."""
    asked = _SHOW.search(block.command) if block.kind == "shell" else None
    if asked is None or any(_SHOW_NAME.match(line) for line in block.output):
        return
    found = {"version": "", "location": ""}
    for line in block.output:
        for field, pattern in (("version", _SHOW_VERSION), ("location", _SHOW_LOCATION)):
            if (match := pattern.match(line)) and not found[field]:
                found[field] = match[1]
    if found["version"]:
        yield Installed(name=canonicalize_name(asked[1]), source="listed", line=block.line + 1, **found)


def _row(match: re.Match[str], number: int) -> Installed:
    third, fourth = (match[3] or "", match[4] or "") if match.re.groups >= 4 else ("", "")
    conda = bool(third) and not third.startswith(("/", "~")) and ":\\" not in third
    return Installed(
        name=canonicalize_name(match[1]),
        version=match[2],
        source="listed",
        build=third if conda else "",
        channel=fourth if conda else "",
        location="" if conda else third,
        line=number,
    )


def _everywhere(text: str) -> Iterator[Installed]:
    """Forms that speak for themselves wherever they stand."""
    name, version, at = "", "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if match := _COLLECT.match(line):
            yield _row(match, number)
        elif match := _SATISFIED.match(line):
            yield Installed(
                name=canonicalize_name(match[1]),
                version=match[3],
                source="installer",
                location=match[2] or "",
                line=number,
            )
        elif match := _SHOW_NAME.match(line):
            name, at = canonicalize_name(match[1]), number
        elif name and number - at < 4 and (match := _SHOW_VERSION.match(line)):
            version = match[1]
            yield Installed(name=name, version=version, source="listed", line=number)
        elif name and version and number - at < 14 and (match := _SHOW_LOCATION.match(line)):
            yield Installed(name=name, version=version, source="listed", location=match[1], line=number)
            name = version = ""
        else:
            yield from _loose(line, number)


def _loose(line: str, number: int) -> Iterator[Installed]:
    for info in _DIST_INFO.finditer(line):
        name, where = canonicalize_name(info[1]), line.strip()
        yield Installed(name=name, version=info[2], source="file", location=where, line=number)
    match = _ROW.match(line) or _FREEZE.match(line)
    if match and _FAMILY.match(match[1]) and "." in match[2]:
        row = _row(match, number)
        yield replace(row, source="said") if match.re is _FREEZE else row


def _installers(changed: Iterable[Change]) -> Iterator[Installed]:
    for change in changed:
        if change.after:
            yield Installed(
                name=change.name, version=change.after, source="installer", build=change.build_after, line=change.line
            )
