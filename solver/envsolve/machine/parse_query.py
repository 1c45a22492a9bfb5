"""nvidia-smi -q and nvidia-smi --version: "Key : value" lines, old and new labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envsolve.machine.machine import Gpu, Os, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import capability, dotted, is_lost, is_tegra, lost, mebibytes, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "nvidia-smi -q"
# The blank before the colon is what tells nvidia-smi's lines from collect_env's and from prose.
_LINE = regex(r"^[\s>|]*([A-Z][A-Za-z0-9 /._-]{1,44}?)\s+: (.*?)\s*$")
_CARD = regex(r"^\s*GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
_SECTION = regex(r"^\s*([A-Z][A-Za-z0-9 /_-]{1,44}?)\s*$")
_OPENS = "GPU …"  # stands for the line that opens a card; no key is spelt so
_DRIVER = ("kmd version", "driver version")
_CUDA = ("cuda umd version", "cuda version")

Line = tuple[str, str, str]  # section, key, value


def parse_query(text: str) -> list[Reading]:
    """The reading of the -q form, all of its cards together; [] where there is none."""
    head, cards = _split(text.splitlines())
    driver = next((d for key in _DRIVER if (d := dotted(_value(head, key)))), None)
    cuda = next((d for key in _CUDA if (d := dotted(_value(head, key)))), None)
    told = any(key in (*_DRIVER, *_CUDA, "attached gpus") for _, key, _ in head)
    if not cards and not told:
        return []
    gpus = [_gpu(card) for card in cards]
    reading = Reading(
        source=SOURCE,
        os=next((os for card in cards if (os := _os(card))), None),
        driver=driver,
        cuda_max=cuda,
        gpus=tuple(gpu for gpu, _ in gpus) or None,
        tegra=True if any(is_tegra(gpu.name or "") for gpu, _ in gpus) else None,
        vendor="nvidia" if gpus or driver else None,
        problems=tuple(problem for _, problem in gpus if problem),
    )
    return [reading]


def _split(lines: Sequence[str]) -> tuple[list[Line], list[list[Line]]]:
    """The lines before the first card, and those of each card; a product name without "GPU …" above opens a card."""
    head: list[Line] = []
    cards: list[list[Line]] = []
    opened = False  # the card of the last "GPU …" line has no product name yet
    for line in _lines(lines):
        _, key, _ = line
        if key == _OPENS:
            cards.append([])
            opened = True
        elif key in (*_DRIVER, *_CUDA, "attached gpus"):
            head.append(line)
        elif key == "product name" and not opened:
            cards.append([line])
        else:
            opened = opened and key != "product name"
            (cards[-1] if cards else head).append(line)
    return head, cards


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    section = ""
    for line in lines:
        if _CARD.match(line):
            section = ""
            yield "", _OPENS, ""
        elif match := _LINE.match(line):
            yield section, match[1].strip().lower(), match[2]
        elif match := _SECTION.match(line):
            section = match[1].lower()


def _value(lines: Sequence[Line], key: str, section: str | None = None) -> str | None:
    return next((v for s, k, v in lines if k == key and section in (None, s)), None)


def _gpu(card: Sequence[Line]) -> tuple[Gpu, Problem | None]:
    name, uuid = _value(card, "product name"), _value(card, "gpu uuid") or ""
    gpu = named_gpu(name, uuid=uuid if uuid.startswith("GPU-") else None)
    gpu = replace(
        gpu,
        compute_capability=capability(_value(card, "compute capability") or _value(card, "compute cap")),
        memory_bytes=_memory(card),
        mig=_value(card, "current", "mig mode") == "Enabled",
    )
    return gpu, lost(None) if is_lost(name) else None


def _memory(card: Sequence[Line]) -> int | None:
    """The frame buffer; MIG devices, listed with parts of it, are smaller."""
    totals = (mebibytes(v) for section, key, v in card if (section, key) == ("fb memory usage", "total"))
    return max((total for total in totals if total), default=None)


def _os(card: Sequence[Line]) -> Os | None:
    """A driver model is named on Windows only."""
    return "windows" if _value(card, "current", "driver model") in ("WDDM", "TCC", "MCDM") else None
