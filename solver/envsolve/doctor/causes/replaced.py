"""Replaced: a later install put another torch in place of the right one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envsolve.doctor.evidence import Change, Command
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import constraint
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import variant_of_build, variant_of_label
from envsolve.doctor.wording import facts_of, quoted, shortened

_NAMES = ("torch", "pytorch")
_VENDOR = re.compile(r"a0\+|\bnv\d\d|\+git")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The torch before and after one install, and the command that did it."""

    before: str
    after: str
    build_before: str
    build_after: str
    command: Command | None
    chain: str = ""


def replaced(s: Situation) -> Finding | None:
    """The last swap of torch, when what came in is worse, or not what was asked for."""
    swap = last_swap(s)
    if swap is None or not _is_worse(s, swap):
        return None
    by = f" by `{shortened(swap.command.text)}`" if swap.command else " by a later install"
    return Finding(
        code="build-replaced",
        headline=f"torch {_shown(swap.before, swap.build_before)} was replaced by {_shown(swap.after, swap.build_after)}{by}",
        certainty="high",
        evidence=tuple([*([f"why: {swap.chain}"] if swap.chain else []), *facts_of(s)]),
        fixes=tuple(_fixes(s, swap)),
    )


def _shown(version: str, build: str) -> str:
    return f"{version} ({build})" if build else version


def last_swap(s: Situation) -> Swap | None:
    """The last change of torch to another version, from the installers' own words, else from what Python printed
    before and after an install."""
    found: Swap | None = None
    present = ""
    build = ""
    for change in (c for c in s.evidence.changes if c.name in _NAMES):
        before, build_before = change.before or present, change.build_before or build
        if before and change.after and _other(before, change.after, build_before, change.build_after):
            found = _swap(s, change, before, build_before)
        present, build = change.after or present, change.build_after
    return found or _by_prints(s)


def _other(before: str, after: str, build_before: str, build_after: str) -> bool:
    if build_before and build_after:
        return variant_of_build(build_before) != variant_of_build(build_after) or before != after
    return before != after


def _swap(s: Situation, change: Change, before: str, build_before: str) -> Swap:
    command = next(
        (
            c
            for c in reversed(s.evidence.commands)
            if c.line <= change.line and c.tool in ("pip", "uv", "conda", "poetry")
        ),
        None,
    )
    return Swap(
        before=before,
        after=_told_after(s, change),
        build_before=build_before,
        build_after=change.build_after,
        command=command,
        chain=_chain(s, command),
    )


def _told_after(s: Situation, change: Change) -> str:
    """What came in, with the label that Python prints of it."""
    row = s.evidence.installed.get("torch")
    same = row is not None and row.public == change.after.split("+")[0]
    return row.version if same and row is not None else change.after


def _by_prints(s: Situation) -> Swap | None:
    """Python printed one version, something was installed, Python printed another."""
    rows = [r for r in s.evidence.history if r.name == "torch" and r.source in ("printed", "listed")]
    for first, second in zip(rows, rows[1:], strict=False):
        between = [
            c
            for c in s.evidence.commands
            if first.line < c.line < second.line and c.verb in ("install", "add", "sync", "update")
        ]
        labels = first.label != second.label and bool(first.label or second.label)
        if between and (first.public != second.public or (labels and second.source == first.source)):
            return Swap(
                before=first.version, after=second.version, build_before="", build_after="", command=between[-1]
            )
    return None


def _chain(s: Situation, command: Command | None) -> str:
    """The requirement that pulled the new torch in, with who asked for it."""
    text = command.output if command else s.evidence.text
    found = re.findall(r"Collecting (torch[^\s(]*(?: ?[<>=!~][^\s(]*)?) \(from ([^)]*)\)", text)
    asked = [
        f"{requirement} is required by {owner}" for requirement, owner in found if re.search(r"[<>=]", requirement)
    ]
    return asked[-1] if asked else ""


def _is_worse(s: Situation, swap: Swap) -> bool:
    """Whether the swap did harm: not when the user asked for this very version and it works."""
    if _named_it(swap):
        return False
    before = _variant(swap.before, swap.build_before)
    after = _variant(swap.after, swap.build_after) or s.torch.variant
    if _VENDOR.search(swap.before):
        return True
    if before and before != "cpu" and after in ("", "cpu") and swap.before != swap.after:
        return after == "cpu" or s.is_failing or s.torch.variant == "cpu" or s.machine.os == "windows" or _unfit(s)
    if _asked_exactly(s, swap.before):
        return True
    return s.is_failing or s.served is False or _unfit(s)


def _unfit(s: Situation) -> bool:
    return bool(s.fit and s.fit.refusals) or any(c.belongs is False for c in s.companions)


def _variant(version: str, build: str) -> str:
    found = variant_of_label(version.partition("+")[2]) or variant_of_build(build)
    return found or ("cuda" if "cuda" in build else "")


def _named_it(swap: Swap) -> bool:
    """Whether the command itself named torch at this version, or torch alone to be upgraded."""
    if swap.command is None:
        return False
    named = [r for r in swap.command.requirements if re.match(r"(?:py)?torch(?![\w-])", r)]
    return any(swap.after.split("+")[0] in r or r in _NAMES for r in named)


def _asked_exactly(s: Situation, version: str) -> bool:
    """Whether somebody pinned the version that was lost."""
    wanted = version.split("+")[0]
    return any(
        re.match(rf"torch==?{re.escape(wanted)}(?:\+|$)", r) for c in s.evidence.commands for r in c.requirements
    )


def _fixes(s: Situation, swap: Swap) -> list[Fix]:
    variant = _variant(swap.before, swap.build_before)
    package = next((r for r in (swap.command.requirements if swap.command else ()) if not r.startswith((".", "-"))), "")
    if _VENDOR.search(swap.before):
        text = (
            f"bring the vendor's build {swap.before} back (it is on no index: take the vendor's wheel or image again) and "
            "install the rest against a constraint on exactly this version; it counts as a pre-release"
        )
        return [
            Fix(
                text=text,
                commands=(
                    f"echo 'torch=={swap.before}' > constraints.txt",
                    f"pip install --no-deps {package or 'PACKAGE'}",
                ),
            )
        ]
    if variant == "cuda":
        return [
            Fix(
                text=f"make a new environment with pytorch {swap.before} pinned as a CUDA build, in one step with the rest"
            )
        ]
    if not variant or variant == "cpu":
        text = "what was installed later requires the newer torch: drop the old pin, or take a release of it that allows the old one"
        return [Fix(text=text), constraint(swap.before)]
    pin = swap.before if "+" in swap.before else f"{swap.before}+{variant}"
    names = [f"{c.name}=={c.wanted[0]}+{variant}" for c in s.companions if c.wanted]
    row = s.rulebook.companions.get(_public(pin))
    if row is not None:
        names = [
            f"{n}=={row.versions[n][0]}+{variant}"
            for n in ("torchvision", "torchaudio")
            if n in s.evidence.installed and row.versions.get(n)
        ]
    one = " ".join(
        [
            "pip install",
            f"torch=={pin}",
            *names,
            package,
            f"--extra-index-url https://download.pytorch.org/whl/{variant}",
        ]
    )
    text = "make a new environment and resolve everything in one step, with the label in the pin"
    return [Fix(text=text, commands=(" ".join(one.split()),)), constraint(pin)]


def _public(version: str):  # type: ignore[no-untyped-def]
    from envsolve.doctor.torch_state import public

    return public(version)
