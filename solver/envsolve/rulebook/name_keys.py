"""Name keys: a GPU name in its comparable form. The same code makes the compiled index and reads a question.

A key is the name's words in lower case, glued ones parted ("rtx4090ti" -> "rtx 4090 ti"). Words that say nothing about
the chip (memory size, form factor, "Laptop GPU") are qualifiers: the base key lacks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envsolve.regex import regex

_SPLIT = regex(r"[^a-z0-9.]+")
_MARKS = regex(r"\((?:r|tm)\)|[®™]", re.IGNORECASE)
_SERIES = regex(r"(nvidia|geforce|quadro|tesla|titan|jetson|grid|rtx|gtx|gts|gt)(?=[a-z0-9])")
_GLUED_SERIES = regex(r"(?:nvidia|geforce|quadro|tesla|titan|jetson|grid|rtx|gtx|gts(?=\d)|gt(?=\d))")
_GLUED_GRADE = regex(r"(\d{3,4})(ti|super|d)?(super|s)?", re.ASCII)
_QUALIFIER = regex(
    r"\d+(\.\d+)?(gb|gib|g|mb)|(pg|sx|ts|s)?xm\d?|sxm\d?|pcie?|hbm\w*|gddr\w+|ddr\d|nvl\d*|dgxs|fhhl|cnx"
    r"|laptop|mobile|notebook|gpu|max|q|with|design|generation|edition|server|workstation|sff|embedded"
    r"|developer|engineering|reference|kit|nvgpu|collectors|active|oem|rev\.?|lite|hash|rate|mac|corporation|ls|dc",
    re.ASCII,
)
# "Rev. 2", "Rev. A": the word after rev belongs to it.
_REVISION = regex(r"\brev\.? *(\w)\b")
_SIZE = regex(r"(\d+) +(gb|gib|mb)\b")
# The number of a board: "A100-PG509-200".
_BOARD_NUMBER = regex(r"(?<=\w)[ -]pg\d{3}-\d{3}\b")
_MIG = regex(r"\bmig\b.*|\bmig-.*", re.DOTALL)

_BRANDS = ("geforce", "quadro", "tesla")
_LINES = ("rtx", "gtx", "gt", "gts")


def words(name: str) -> list[str]:
    """The words of a name, qualifiers kept: "NVIDIA A100-SXM4-80GB" -> nvidia a100 sxm4 80gb."""
    text = _BOARD_NUMBER.sub("", _MIG.sub("", _MARKS.sub("", name).lower()))
    text = _REVISION.sub(r"rev\1", _SIZE.sub(r"\1\2", text))
    return [part for word in _SPLIT.split(text) for part in _unglue(word.strip("."))]


def base(key: list[str]) -> list[str]:
    """The words without qualifiers."""
    kept = [word for word in key if not is_qualifier(word)]
    return kept or key


def is_qualifier(word: str) -> bool:
    """Whether a word says nothing about the chip."""
    return bool(_QUALIFIER.fullmatch(word)) or bool(re.fullmatch(r"rev\w", word))


def _unglue(word: str) -> Iterator[str]:
    while match := _GLUED_SERIES.match(word):
        if match.end() == len(word):
            break
        yield match[0]
        word = word[match.end() :]
    grade = _GLUED_GRADE.fullmatch(word)
    if grade:
        yield from ("super" if part == "s" else part for part in grade.groups() if part)
    elif word:
        yield word


def short_forms(key: list[str]) -> Iterator[tuple[int, list[str]]]:
    """What people write for a name, with a rank: 0 as it is, then ever shorter; the lower rank owns a key."""
    yield 0, key
    plain = key
    if plain[0] == "nvidia" and len(plain) > 1:
        plain = plain[1:]
        yield 1, plain
    brand = plain[0] if plain[0] in _BRANDS else ""
    if brand and _speaks_alone(plain[1:]):
        plain = plain[1:]
        yield 2, plain
    if plain[0] == "jetson" and plain[1:] and plain[1] != "nano":
        yield 2, plain[1:]
    if len(plain) > 1 and plain[0] in _LINES and _needs_no_line(brand, plain[1:]):
        yield 3, plain[1:]
    if plain[:2] == ["rtx", "pro"] and "blackwell" in plain:
        yield 3, [word for word in plain if word != "blackwell"]


def _speaks_alone(rest: list[str]) -> bool:
    """ "Quadro 600" is not "600"; "Quadro K600" may be "K600"."""
    return bool(rest) and not rest[0].isdigit()


def _needs_no_line(brand: str, rest: list[str]) -> bool:
    """ "4090" will do for the GeForce; "6000" will not for a Quadro RTX, "A6000" and "6000 Ada" will for an RTX."""
    if brand == "quadro":
        return False
    return (brand == "geforce" and rest[0][0].isdigit()) or bool(re.fullmatch(r"a\d{3,4}", rest[0])) or "ada" in rest


def name_index(names: Iterable[str]) -> dict[str, list[int]]:
    """The compiled index: key -> positions of the names that it stands for, those of the lowest rank."""
    ranked: dict[str, tuple[int, dict[int, None]]] = {}
    for position, name in enumerate(names):
        key = words(name)
        for form in (key, base(key)):
            for rank, short in short_forms(form):
                _enter(ranked, " ".join(short), rank, position)
    return {key: list(positions) for key, (_, positions) in ranked.items()}


def _enter(ranked: dict[str, tuple[int, dict[int, None]]], key: str, rank: int, position: int) -> None:
    best, positions = ranked.get(key, (rank, {}))
    if rank < best:
        ranked[key] = (rank, {position: None})
    elif rank == best:
        positions[position] = None
        ranked[key] = (best, positions)
