"""Names: from what a tool or a person calls a GPU to its compute capability. In doubt it says so and never guesses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

from envsolve.capability import Capability
from envsolve.record import record
from envsolve.regex import regex
from envsolve.rulebook import rows
from envsolve.rulebook.compiled import Tree
from envsolve.rulebook.name_keys import base, words
from envsolve.rulebook.tables import GpuName

NameKind = Literal["known", "ambiguous", "unknown"]

# nvidia-smi cuts long names: "NVIDIA GeForce RTX 208..."
_CUT = regex(r"\s*(\.\.\.?|…)\s*$")
# A slice of a GPU for a virtual machine: "L4-12Q", "A100-4C", "A100-1-5CME", "M10-2B4", "RTX8000-48".
_VGPU = regex(r"^(.*?)(?:-\d)?-\d+(?:[abcq](?:4|me|nome|meall|gfx)?)?$", re.IGNORECASE)
# ... whose board letters are not part of the name: "A100D-80C", "V100DX-32Q", "RTX8000P-8Q", "P100C-12C".
_BOARD = regex(r"(?<=\d)[cdxplms]+$")
# How lspci speaks of a card, the chip before the product: "NVIDIA Corporation GK208B [GeForce GT 710] (rev a1)".
_LSPCI = regex(r"\b((?:G[A-Z]|TU|AD)\d\d[0-9A-F])[A-Z]{0,3}\s+\[([^\]]+)\]", re.IGNORECASE)
# What a shop calls a card: the board's maker, the GeForce, words of praise. Such boards are never another chip.
_MAKER = regex(
    r"(?:acer|asrock|asus|colorful|evga|gainward|galax|gigabyte|inno3d|kfa2|leadtek|manli|msi|palit|pny|zotac)\b(?=.*?"
    r"\b((?:rtx|gtx)[ -]?\d{3,4}(?: ?ti\b)?(?: ?super\b)?))",
    re.IGNORECASE,
)
_TAILS = ("gpu", "laptop", "mobile", "notebook", "maxq", "edition", "generation", *(f"{n}gb" for n in (
    2, 3, 4, 5, 6, 8, 10, 11, 12, 16, 20, 22, 24, 32, 40, 48, 72, 80, 94, 96,
)))  # fmt: skip


@record
class NameMatch:
    """What a GPU name stands for.

    known: one capability. ambiguous: several are possible, `names` are the GPUs in question. unknown: none of the
    rules' names; `near` are those that look most like it.
    """

    kind: NameKind
    capabilities: tuple[Capability, ...] = ()
    names: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def capability(self) -> Capability | None:
        """The capability, where there is just one."""
        return self.capabilities[0] if self.kind == "known" else None


class GpuNames:
    """The names of the rules and their compiled index."""

    def __init__(self, *, names: Tree, index: Tree, sources: tuple[str, ...], chips: Tree | None = None) -> None:
        self.names = names
        self.index = index
        self.sources = sources
        self.chips = chips or {}

    def find(self, text: str) -> NameMatch:
        """Look a name up, as a tool prints it or as people write it; a name cut off with "..." matches as a prefix."""
        if told := _LSPCI.search(text):
            return self._of_chip(told[1].upper(), self.find(told[2]))
        if _CUT.search(text):
            return self._find_cut(_CUT.sub("", text))
        positions = self._positions(text)
        return self._match(positions) if positions else NameMatch(kind="unknown", near=self.nearest(text))

    def _of_chip(self, chip: str, product: NameMatch) -> NameMatch:
        """A product whose chip was told: the chip settles what the name leaves open."""
        if product.kind == "known" or chip not in self.chips:
            return product
        capability = rows.chip_capability(self.chips[chip])
        return NameMatch(kind="known", capabilities=(capability,), names=product.names or (chip,))

    def all(self) -> tuple[GpuName, ...]:
        """Every name as a typed row."""
        return tuple(self.row(name) for name in self.names)

    def row(self, name: str) -> GpuName:
        """The row of a name, spelt as in the rules. Raises KeyError for another."""
        return rows.gpu_name(name, self.names[name], self.sources)

    def nearest(self, text: str) -> tuple[str, ...]:
        """The three names that look most like a text."""
        from difflib import get_close_matches

        wanted = " ".join(word for word in words(text) if word != "nvidia")
        keys = {" ".join(word for word in words(name) if word != "nvidia"): name for name in self.names}
        close = get_close_matches(wanted, [*keys, *self.index], n=9, cutoff=0.7)
        found = (keys.get(key) or self._names[self.index[key][0]] for key in close)
        return tuple(dict.fromkeys(found))[:3]

    def _positions(self, text: str) -> list[int]:
        for key in _questions(text):
            if found := self._look_up(key):
                return found
        return self._glued(_compact(text))

    def _glued(self, text: str) -> list[int]:
        """Written without blanks: "rtx308012gb", "rtxa2000laptopgpu", "dgxspark"."""
        for form in _without_tails(text):
            if found := self._glued_index.get(form):
                return found
        return []

    def _look_up(self, key: list[str]) -> list[int]:
        """A fully told variant first ("GT 640 (GDDR5)"), else all that share the base name."""
        short = base(key)
        found: list[int] = self.index.get(" ".join(key), []) if short != key else []
        return found or self.index.get(" ".join(short), [])

    def _find_cut(self, prefix: str) -> NameMatch:
        wanted = _compact(prefix)
        if "nvidia".startswith(wanted):
            return NameMatch(kind="unknown")
        positions = [position for position, name in enumerate(self._compact_names) if name.startswith(wanted)]
        if not positions:
            # Longer than any name of the rules: "NVIDIA H100 80GB HB..." without the word that was cut.
            positions = self._positions(prefix) or self._positions(re.sub(r"[\s-]*[^\s-]*$", "", prefix))
        return self._match(positions) if positions else NameMatch(kind="unknown")

    def _match(self, positions: Iterable[int]) -> NameMatch:
        matched = [self.row(self._names[position]) for position in positions]
        capabilities = tuple(sorted({one for row in matched for one in row.capabilities}))
        kind: NameKind = "known" if len(capabilities) == 1 else "ambiguous"
        return NameMatch(kind=kind, capabilities=capabilities, names=tuple(row.name for row in matched))

    @cached_property
    def _names(self) -> list[str]:
        return list(self.names)

    @cached_property
    def _glued_index(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for key, positions in self.index.items():
            if " " in key:
                found.setdefault(key.replace(" ", ""), []).extend(positions)
        return found

    @cached_property
    def _compact_names(self) -> list[str]:
        return [_compact(name) for name in self.names]


def _compact(name: str) -> str:
    """Letters and digits alone, without "nvidia": "A100 PCIe 40GB" and "NVIDIA A100-PCIE-40GB" are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).removeprefix("nvidia")


def _without_tails(text: str) -> Iterator[str]:
    """The text, and what is left of it without the words behind it that say nothing about the chip."""
    yield text
    for tail in _TAILS:
        if text.endswith(tail) and len(text) > len(tail) + 3:
            yield from _without_tails(text.removesuffix(tail))


def _questions(text: str) -> Iterator[list[str]]:
    """The keys to try, the most literal first."""
    key = words(text)
    if not key:
        return
    yield key
    plain = key[1:] if key[0] == "nvidia" else key
    yield plain
    if plain[:1] == ["geforce"] and plain[1:]:
        yield plain[1:]
    if sold := _MAKER.match(text.strip()):
        yield words(sold[1])
    yield from _turned(plain)
    if slice_ := _VGPU.match(text.strip()):
        board = [word for word in words(slice_[1]) if word not in ("nvidia", "grid")]
        if board:
            trimmed = [*board[:-1], _BOARD.sub("", board[-1])]
            yield from (["grid", *board], ["grid", *trimmed], board, trimmed)


def _turned(key: list[str]) -> Iterator[list[str]]:
    """ "RTX 6000 Pro" is what many write for the RTX PRO 6000."""
    for place in range(1, len(key) - 1):
        if key[place - 1] == "rtx" and key[place].isdigit() and key[place + 1] == "pro":
            yield [*key[:place], "pro", key[place], *key[place + 2 :]]
