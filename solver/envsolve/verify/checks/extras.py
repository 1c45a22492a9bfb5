"""torch.compile and NCCL."""

from __future__ import annotations

from envsolve.verify.checks.compute import judge
from envsolve.verify.checks.ends import read, unhappy
from envsolve.verify.child import Ended
from envsolve.verify.facts import measures
from envsolve.verify.report import Check


def compiled(device: str, ended: Ended) -> Check:
    """A wrong result fails. That it can't compile here (no headers, no Triton) is told: torch is whole without it."""
    name = f"torch.compile {device}"
    expected = "a compiled function gives the right result"
    found = read(ended, measures)
    if not isinstance(found, Ended):
        return judge(name, found, ended.seconds)
    seen = found.text if found.end == "skipped" else f"torch.compile doesn't work here: {found.text}"
    return Check(name=name, outcome="skipped", expected=expected, seen=seen, seconds=found.seconds)


def nccl(ended: Ended) -> Check:
    """The all-reduce gave every GPU the sum."""
    found = read(ended, measures)
    if isinstance(found, Ended):
        return unhappy("nccl all-reduce", found, "every GPU gets the sum")
    return judge("nccl all-reduce", found, ended.seconds)
