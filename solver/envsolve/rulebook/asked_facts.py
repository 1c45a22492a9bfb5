"""Asked facts: from what a person types (a GPU, a torch, a variant, a driver) to the rows that speak of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from packaging.specifiers import SpecifierSet

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.regex import regex
from envsolve.rulebook.facts import Fact
from envsolve.rulebook.names import NameMatch
from envsolve.rulebook.rulebook import Rulebook

_TORCH = regex(r"(?:torch(?:==)?)?v?(\d+\.\d+(?:\.\d+)?)", re.ASCII)
_VARIANT = regex(r"cu\d{2,3}|cpu|xpu|rocm\d+(?:\.\d+)+", re.ASCII)
_CAPABILITY = regex(r"(\d{1,2})\.(\d)|sm_(\d{1,2})(\d)", re.ASCII)
_DRIVER = regex(r"(?:R|driver=)?(\d{3})(?:\.\d+)*", re.ASCII | re.IGNORECASE)
_GFX = regex(r"gfx[0-9a-f]{3,4}", re.ASCII)

Asks = Callable[[Fact], bool]
Answer = tuple[str, Asks]


def asked(what: str, rulebook: Rulebook) -> Answer | None:
    """What a text asks for, in words, and the rows that answer; None where it is nothing that the rules know of."""
    text = what.strip()
    for question in (_variant, _torch, _driver, _capability, _gfx, _gpu):
        if answer := question(text, rulebook):
            return answer
    return None


def select(facts: Iterable[Fact], asks: Asks) -> tuple[Fact, ...]:
    """The rows that answer: a GPU's own names first, the others in the order of the rules."""
    return tuple(sorted((fact for fact in facts if asks(fact)), key=lambda fact: fact.table != "names"))


def _variant(text: str, rulebook: Rulebook) -> Answer | None:
    if not _VARIANT.fullmatch(text):
        return None
    cuda = re.fullmatch(r"cu(\d+)(\d)", text)
    minor = Dotted.parse(f"{cuda[1]}.{cuda[2]}") if cuda else None

    def asks(fact: Fact) -> bool:
        if minor is not None and fact.table == "floors":
            return fact.keys == (str(minor.major),)
        if minor is not None and fact.table in ("toolkits", "toolkit_targets"):
            return _minor(Dotted.parse(fact.keys[0])) == _minor(minor)
        return text in fact.keys and fact.table != "companion_builds"

    return f"the variant {text}", asks


def _minor(cuda: Dotted) -> tuple[int, ...]:
    return (*cuda.parts, 0)[:2]


def _torch(text: str, rulebook: Rulebook) -> Answer | None:
    version, plus, label = text.partition("+")
    match = _TORCH.fullmatch(version)
    known = match and any(_same_release(str(torch), match[1]) for torch in rulebook.torch_versions)
    # 2.0 and 2.1 are releases of torch and capabilities of Fermi; the old cards are asked for by name.
    if not match or not known or (plus and not _VARIANT.fullmatch(label)):
        return None
    torch = match[1]
    companions = _companions(torch, rulebook) if label else frozenset()

    def asks(fact: Fact) -> bool:
        if fact.table == "companion_builds":
            return fact.keys[:2] in companions and label in fact.keys
        return _of_torch(fact, torch, label)

    return f"torch {torch}{plus}{label}", asks


def _companions(torch: str, rulebook: Rulebook) -> frozenset[tuple[str, ...]]:
    rows = (row for version, row in rulebook.companions.items() if _same_release(str(version), torch))
    return frozenset((name, str(v)) for row in rows for name, versions in row.versions.items() for v in versions)


def _of_torch(fact: Fact, torch: str, variant: str) -> bool:
    if fact.table in ("numpy", "not_published"):
        return SpecifierSet(fact.keys[0]).contains(torch) and (fact.table == "numpy" or variant in ("", fact.keys[1]))
    if fact.table == "gfx_targets":
        return _same_release(torch, fact.keys[1]) and variant in ("", fact.keys[0])
    if fact.table not in ("releases", "builds", "other_builds", "companions", "pypi_default"):
        return False
    return _same_release(fact.keys[0], torch) and (not variant or len(fact.keys) == 1 or variant in fact.keys)


def _same_release(version: str, asked_for: str) -> bool:
    """2.9.1 is of 2.9 and of 2.9.1."""
    return version == asked_for or version.startswith(f"{asked_for}.")


def _driver(text: str, rulebook: Rulebook) -> Answer | None:
    match = _DRIVER.fullmatch(text)
    if not match or int(match[1]) not in rulebook.branches:
        return None
    branch = int(match[1])

    def asks(fact: Fact) -> bool:
        if fact.table == "branches":
            return fact.keys == (str(branch),)
        if fact.table == "toolkits":
            return ("branch", str(branch)) in fact.fields
        return fact.table == "architectures" and any(name.endswith("_branch") for name, _ in fact.fields)

    return f"the driver branch {branch}", asks


def _capability(text: str, rulebook: Rulebook) -> Answer | None:
    match = _CAPABILITY.fullmatch(text)
    if not match:
        return None
    capability = Capability(int(match[1] or match[3]), int(match[2] or match[4]))
    if rulebook.architecture(capability) is None:
        return None
    told = f"compute capability {capability}{_toolkits((capability,), rulebook)}"
    return told, lambda fact: _of_capability(fact, (capability,))


def _gpu(text: str, rulebook: Rulebook) -> Answer | None:
    match = rulebook.gpu_names.find(text)
    if match.kind == "unknown":
        return None

    def asks(fact: Fact) -> bool:
        if fact.table in ("names", "chips"):
            return fact.keys[0] in match.names
        return _of_capability(fact, match.capabilities)

    return _told(match, rulebook), asks


def _told(match: NameMatch, rulebook: Rulebook) -> str:
    name = match.names[0] if len(match.names) == 1 or match.kind == "known" else f"{len(match.names)} GPUs"
    capabilities = " or ".join(map(str, match.capabilities))
    return f"{name}: compute capability {capabilities}{_toolkits(match.capabilities, rulebook)}"


def _toolkits(capabilities: tuple[Capability, ...], rulebook: Rulebook) -> str:
    """Which nvcc can make code for it: a dozen rows of the rules in half a line."""
    if len(capabilities) != 1:
        return ""
    able = sorted(cuda for cuda, row in rulebook.toolkit_ranges.items() if row.covers(capabilities[0]))
    return f"; nvcc of CUDA {able[0]} to {able[-1]} can target it" if able else "; no nvcc of these rules can target it"


def _of_capability(fact: Fact, capabilities: tuple[Capability, ...]) -> bool:
    fields = dict(fact.fields)
    if fact.table == "architectures":
        first, last = Capability.parse(fields["first"]), Capability.parse(fields["last"])
        return any(first <= one <= last for one in capabilities)
    if fact.table == "tegra":
        return Capability.parse(fact.keys[0]) in capabilities
    if fact.table in ("names", "chips"):
        return bool(set(fields["capability"].split()) & set(map(str, capabilities)))
    return False


def _gfx(text: str, rulebook: Rulebook) -> Answer | None:
    product = rulebook.amd_products.get(text)
    if not product and not _GFX.fullmatch(text):
        return None
    gfx = product.gfx if product else text

    def asks(fact: Fact) -> bool:
        if fact.table == "gfx_unusable":
            return fact.keys[0] == gfx
        return fact.table in ("gfx_targets", "amd_products") and gfx in dict(fact.fields).get("gfx", "").split()

    return f"the AMD target {gfx}", asks
