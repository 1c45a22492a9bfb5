"""Other names: from what a person or a tool calls an AMD or Intel GPU to what the rules say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from envsolve.regex import regex
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import XpuProduct

# The target itself, with the features that rocminfo adds: "gfx90a:sramecc+:xnack-".
_GFX = regex(r"\bgfx[0-9a-f]{3,4}\b", re.ASCII)
_ASIDE = regex(r"\(.*?\)")
# lspci lists the products of one chip: "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900M]".
_OF_ONE_CHIP = regex(r"\[([^\]]*\d[^\]]*)\]")
# A processor names its graphics behind a "w/": "AMD Ryzen AI MAX+ 395 w/ Radeon 8060S".
_PROCESSOR = regex(r"^.*\bryzen\b.* w/ ", re.IGNORECASE)
# What names the maker, the family, the form or the memory, and never the chip.
_SAYS_NOTHING = regex(
    r"\b(?:amd|ati|radeon|instinct|rx|graphics|gpu|series|oam|pcie|ac|mba|2048sp|\d+ ?gi?b"
    r"|(?:ai )?pro(?= [wvr]\d))\b"
)


def gfx_of(name: str, rulebook: Rulebook) -> str | None:
    """The gfx target of an AMD GPU by its name ("Radeon RX 7900 XTX", "gfx1100"); None = the rules don't know it."""
    if told := _GFX.search(name.lower()):
        return told[0]
    products = _products(rulebook)
    if found := products.get(_key(_PROCESSOR.sub("", name))):
        return found
    listed = _OF_ONE_CHIP.search(name)
    several = {products.get(_key(one)) for one in (listed[1] if listed else name).split("/")} - {None}
    return several.pop() if len(several) == 1 else None


def xpu_product(name: str, rulebook: Rulebook) -> XpuProduct | None:
    """What the rules say of an Intel GPU by its name; None = they don't know it."""
    told = " ".join(re.sub(r"\((?:r|tm)\)|[®™\[\]]", " ", name.lower()).split())
    return next((row for row in rulebook.xpu_products if re.search(_pattern(row.words), told)), None)


@lru_cache(maxsize=4)
def _products(rulebook: Rulebook) -> dict[str, str]:
    return {key: row.gfx for row in rulebook.amd_products.values() for key in _keys(row.name)}


def _keys(name: str) -> Iterator[str]:
    """The keys of a product; "Radeon 740M/760M (Phoenix)" has three."""
    asides = " ".join(re.findall(r"\((.*?)\)", name)).split(",")
    return (key for one in (*name.split("/"), *asides) if (key := _key(one)))


def _key(name: str) -> str:
    plain = _ASIDE.sub(" ", name.lower().replace("(tm)", " ").replace("(r)", " "))
    return re.sub(r"[^a-z0-9]", "", _SAYS_NOTHING.sub(" ", re.sub(r"\brx(?=\d)", "rx ", plain)))


def _pattern(words: str) -> str:
    return r"\b" + re.escape(words.lower()).replace(r"\#", r"\d")
