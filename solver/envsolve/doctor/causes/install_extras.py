"""Packages that should not be there: a hostile one, and NVIDIA's libraries beside a CPU build."""

from __future__ import annotations

import re

from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_NVIDIA = regex(r"nvidia-[\w-]+-cu\d+")


def hostile(s: Situation) -> Finding | None:
    """A package that must not be installed."""
    e = s.evidence
    for name in s.facts.bad_names:
        row = e.installed.get(name)
        if row is not None and row.channel not in ("", "pypi"):
            continue  # conda's own package of this name is the real one
        seen = row is not None or re.search(rf"\b{re.escape(name)}[-= ]+\d", e.text)
        bad = s.facts.bad_name(name) if seen else None
        if bad is None:
            continue
        meant, why = bad
        text = (
            "remove it, treat the machine as compromised (change its keys and tokens), and install anew with one "
            f"index; what was meant is {meant}"
        )
        lines = [line.strip() for line in e.text.split("\n") if name in line][:4]
        way = fix(text, f"pip uninstall {name}", "pip cache purge")
        return finding(s, "index-problem", f"{name}: {why}", more=lines, fixes=[way])
    return None


def superfluous(s: Situation) -> Finding | None:
    """NVIDIA packages beside a CPU build: metadata listed them; they are not needed."""
    e = s.evidence
    if s.torch.accelerator != "cpu" or not s.torch.certain or s.machine.gpus or e.host.gpu_claimed:
        return None
    came = [c.name for c in e.changes if _NVIDIA.fullmatch(c.name)] or [n for n in e.installed if _NVIDIA.fullmatch(n)]
    if not came:
        return None
    headline = f"the CPU build needs none of the {len(came)} nvidia packages: the index's metadata listed them"
    way = fix("remove them, and lock again from the cpu index", f"pip uninstall {' '.join(came[:8])}")
    more = [f"installed beside it: {', '.join(came[:4])}"]
    return finding(s, "index-problem", headline, more=more, fixes=[way], certainty="medium")
