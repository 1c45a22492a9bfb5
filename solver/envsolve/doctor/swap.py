"""Swap: the torch before and after the last install that changed it, from whatever tells of it. Pure reading."""

from __future__ import annotations

import re
from itertools import pairwise

from envsolve.doctor.evidence import Change, Command, Evidence
from envsolve.doctor.torch_state import variant_of_build, variant_of_label
from envsolve.record import record
from envsolve.regex import regex

TORCH = ("torch", "pytorch")
_VENDOR = regex(r"a0\+|\bnv\d\d|\+git")
_INSTALLERS = ("pip", "uv", "conda", "poetry")
_TOLD = regex(r"(?<![\w.+=-])(\d+\.\d+\.\d+\+(?:cu\d{2,3}|cpu|rocm[\d.]+))(?![\w+])")
_DONE = regex(r"\b(?:(?:uv )?pip3? install|uv add|poetry add)\s(?P<what>[^.;`'\"\n]+)")
_PULLED = regex(r"Collecting (torch[^\s(]*(?: ?[<>=!~][^\s(]*)?) \(from ([^)]*)\)")


@record
class Swap:
    """The torch before and after one install, the command that did it, and the requirement that asked for it."""

    before: str
    after: str
    build_before: str = ""
    build_after: str = ""
    command: Command | None = None
    chain: str = ""

    @property
    def variant_before(self) -> str:
        """cu118, cpu, "cuda" where conda cut the number off, "" where nothing tells."""
        return _variant(self.before, self.build_before)

    @property
    def variant_after(self) -> str:
        return _variant(self.after, self.build_after)

    @property
    def lost_vendor_build(self) -> bool:
        """Whether what was there came from a board's or image's maker, and is on no index."""
        return bool(_VENDOR.search(self.before))

    @property
    def asked_for(self) -> bool:
        """Whether the command itself named torch: at this version, or alone to be upgraded."""
        if self.command is None:
            return False
        named = [r for r in self.command.requirements if re.match(r"(?:py)?torch(?![\w-])", r)]
        return any(self.after.split("+")[0] in r or r in TORCH for r in named)


def last_swap(evidence: Evidence) -> Swap | None:
    """The last change of torch to another version: by the installers' own words, else by what Python printed before
    and after an install."""
    found: Swap | None = None
    present, build = "", ""
    for change in (c for c in evidence.changes if c.name in TORCH):
        before, build_before = change.before or present, change.build_before or build
        if before and change.after and _other(before, build_before, change):
            found = _swap(evidence, change, before, build_before)
        present, build = change.after or present, change.build_after
    return found or _by_prints(evidence) or _by_words(evidence.text)


def _other(before: str, build_before: str, change: Change) -> bool:
    if build_before and change.build_after and variant_of_build(build_before) != variant_of_build(change.build_after):
        return True
    return before != change.after


def _swap(evidence: Evidence, change: Change, before: str, build_before: str) -> Swap:
    earlier = [c for c in evidence.commands if c.line <= change.line and c.tool in _INSTALLERS]
    command = earlier[-1] if earlier else None
    return Swap(
        before=before,
        after=_told_after(evidence, change),
        build_before=build_before,
        build_after=change.build_after,
        command=command,
        chain=_chain(command.output if command else evidence.text),
    )


def _told_after(evidence: Evidence, change: Change) -> str:
    """What came in, with the label that Python prints of it."""
    row = evidence.installed.get("torch")
    return row.version if row is not None and row.public == change.after.split("+")[0] else change.after


def _by_prints(evidence: Evidence) -> Swap | None:
    """Python printed one version, something was installed, Python printed another."""
    rows = [r for r in evidence.history if r.name == "torch" and r.source in ("printed", "listed")]
    for first, second in pairwise(rows):
        between = [c for c in evidence.commands if first.line < c.line < second.line and _installs(c)]
        labels = first.label != second.label and first.source == second.source
        if between and (first.public != second.public or labels):
            return Swap(before=first.version, after=second.version, command=between[-1])
    return None


def _by_words(text: str) -> Swap | None:
    """A sentence tells of one build, of an install of something else, and of another build."""
    told = list(_TOLD.finditer(text))
    for first, second in pairwise(told):
        done = _DONE.search(text, first.end(), second.start())
        if done and first[1] != second[1] and not re.search(r"\btorch\b", done["what"]):
            command = Command(
                tool="pip", verb="install", text=done[0].strip(), line=0, requirements=tuple(done["what"].split())
            )
            return Swap(before=first[1], after=second[1], command=command)
    return None


def _installs(command: Command) -> bool:
    return command.verb in ("install", "add", "sync", "update")


def _chain(output: str) -> str:
    """The requirement that pulled the new torch in, with who asked for it."""
    asked = [f"{wanted} is required by {by}" for wanted, by in _PULLED.findall(output) if re.search(r"[<>=]", wanted)]
    return asked[-1] if asked else ""


def _variant(version: str, build: str) -> str:
    found = variant_of_label(version.partition("+")[2]) or variant_of_build(build)
    return found or ("cuda" if "cuda" in build else "")
