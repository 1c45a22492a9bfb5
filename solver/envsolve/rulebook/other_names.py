"""Other names: from what a person or a tool calls an AMD or Intel GPU to what the rules say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import XpuProduct

_GFX = re.compile(r"gfx[0-9a-f]{3,4}", re.ASCII)
_ASIDE = re.compile(r"\(.*?\)")
# What names the maker, the family or the memory, and never the chip.
_SAYS_NOTHING = re.compile(r"\b(?:amd|ati|radeon|instinct|rx|graphics|gpu|series|\d+ ?gi?b)\b")


def gfx_of(name: str, rulebook: Rulebook) -> str | None:
    """The gfx target of an AMD GPU by its name ("Radeon RX 7900 XTX", "gfx1100"); None = the rules don't know it."""
    plain = name.strip().lower()
    return plain if _GFX.fullmatch(plain) else _products(rulebook).get(_key(name))


def xpu_product(name: str, rulebook: Rulebook) -> XpuProduct | None:
    """What the rules say of an Intel GPU by its name; None = they don't know it."""
    told = " ".join(re.sub(r"\((?:r|tm)\)|[®™\[\]]", " ", name.lower()).split())
    return next((row for row in rulebook.xpu_products if re.search(_pattern(row.words), told)), None)


@lru_cache(maxsize=4)
def _products(rulebook: Rulebook) -> dict[str, str]:
    return {key: row.gfx for row in rulebook.amd_products.values() for key in _keys(row.name)}


def _keys(name: str) -> Iterator[str]:
    """The keys of a product; "Radeon 740M/760M" are two."""
    return (_key(one) for one in name.split("/"))


def _key(name: str) -> str:
    plain = _ASIDE.sub(" ", name.lower().replace("(tm)", " ").replace("(r)", " "))
    return re.sub(r"[^a-z0-9]", "", _SAYS_NOTHING.sub(" ", re.sub(r"\brx(?=\d)", "rx ", plain)))


def _pattern(words: str) -> str:
    return r"\b" + re.escape(words.lower()).replace(r"\#", r"\d")
