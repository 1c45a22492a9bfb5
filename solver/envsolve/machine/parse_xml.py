"""nvidia-smi -q -x: the XML form, whole or broken off, with prose around it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from typing import Any

from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import capability, dotted, is_lost, is_unknown, lost, mebibytes, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "nvidia-smi -q -x"
_ROOT = "<nvidia_smi_log"
_BAD_AMPERSAND = regex(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")

Values = dict[str, str]  # path below the root or the card -> text


def parse_xml(text: str) -> list[Reading]:
    """One reading for each log in the text; what a broken-off log says before its end is taken."""
    return [_reading(part) for part in text.split(_ROOT)[1:]]


def _reading(part: str) -> Reading:
    head, cards = _walk(_ROOT + part)
    gpus = [_gpu(card) for card in cards]
    return Reading(
        source=SOURCE,
        driver=dotted(head.get("kmd_version")) or dotted(head.get("driver_version")),
        cuda_max=dotted(head.get("cuda_umd_version")) or dotted(head.get("cuda_version")),
        gpus=tuple(gpu for gpu, _ in gpus) or None,
        os="windows" if any(card.get("driver_model/current_dm") in ("WDDM", "TCC", "MCDM") for card in cards) else None,
        vendor="nvidia",
        problems=tuple(problem for _, problem in gpus if problem),
    )


def _walk(xml: str) -> tuple[Values, list[Values]]:
    """The values of the head and of each card by their path."""
    head: Values = {}
    cards: list[Values] = []
    path: list[str] = []
    for event, element in _events(xml):
        if event == "start":
            path.append(element.tag)
            if path[1:] == ["gpu"]:
                cards.append({})
            continue
        value = (element.text or "").strip()
        if path[1:2] == ["gpu"] and len(path) > 2:
            cards[-1].setdefault("/".join(path[2:]), value)
        elif len(path) == 2:
            head.setdefault(path[1], value)
        path.pop()
    return head, cards


def _events(xml: str) -> Iterator[tuple[str, ET.Element]]:
    """Start and end of each element up to the end of the log or the first fault; the DOCTYPE is not read at all."""
    parser: Any = ET.XMLPullParser(events=("start", "end"))
    end = xml.find("</nvidia_smi_log>")
    xml = xml if end < 0 else xml[: end + len("</nvidia_smi_log>")]
    for line in _BAD_AMPERSAND.sub("&amp;", xml).splitlines(keepends=True):
        try:
            parser.feed(line)
            yield from parser.read_events()
        except (ET.ParseError, ValueError):
            return


def _gpu(card: Mapping[str, str]) -> tuple[Gpu, Problem | None]:
    uuid = card.get("uuid", "")
    gpu = named_gpu(card.get("product_name"), uuid=None if is_unknown(uuid) else uuid)
    gpu = replace(
        gpu,
        compute_capability=capability(card.get("compute_cap") or card.get("cuda_compute_capability")),
        memory_bytes=mebibytes(card.get("fb_memory_usage/total")),
        mig=card.get("mig_mode/current_mig") == "Enabled",
    )
    return gpu, lost(None) if is_lost(card.get("product_name")) else None
