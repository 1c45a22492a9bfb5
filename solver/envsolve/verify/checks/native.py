"""Native or JIT: what ran without the driver's JIT, against the code that the plan promised."""

from __future__ import annotations

import re

from envsolve.record import replace
from envsolve.regex import regex
from envsolve.verify.checks.compute import judge
from envsolve.verify.checks.ends import read, unhappy
from envsolve.verify.child import Ended
from envsolve.verify.facts import measures
from envsolve.verify.report import Check
from envsolve.verify.steps import OWN_KERNELS

# What CUDA says when a kernel is there as PTX alone and JIT is forbidden.
_ONLY_PTX = regex(r"JIT compilation|no kernel image|kernel image is invalid|unsupported PTX|PTX was compiled", re.I)


def native(device: str, ended: Ended, promised: str) -> Check:
    """torch's own kernels with CUDA_DISABLE_PTX_JIT=1: they must run where a cubin was promised, not where PTX was.

    `promised` "" only tells what was seen.
    """
    name = f"native code {device}"
    expected = _expected(promised)
    if ended.end == "value":
        found = read(ended, measures)
        if isinstance(found, Ended):
            return unhappy(name, found, expected)
        check = judge(name, found, ended.seconds)
        return check if check.outcome == "failed" else _judge(check, expected, promised, jit=False)
    if ended.end == "raised" and ended.step == OWN_KERNELS.name and _ONLY_PTX.search(ended.text):
        check = Check(name=name, outcome="passed", expected=expected, seen=ended.text, seconds=ended.seconds)
        return _judge(check, expected, promised, jit=True)
    return unhappy(name, ended, expected)


def _expected(promised: str) -> str:
    if not promised:
        return "no promise: either will do"
    if promised.startswith("sm_"):
        return f"native code ({promised}): runs with CUDA_DISABLE_PTX_JIT=1"
    return f"JIT from {promised}: doesn't run with CUDA_DISABLE_PTX_JIT=1"


def _judge(check: Check, expected: str, promised: str, *, jit: bool) -> Check:
    seen = "JIT-compiled: without JIT, " + check.seen if jit else "native: it runs without JIT"
    kept = not promised or promised.startswith("compute_") == jit
    return replace(
        check,
        outcome="passed" if kept else "failed",
        expected=expected,
        seen=seen,
        hint="" if kept else "this binary is not the one that the rules describe: envsolve plan --refresh",
    )


def companion(device: str, ended: Ended) -> Check:
    """torchvision's own kernels without JIT. The plan promises nothing of them: that they need JIT is told."""
    name = f"native code {device} torchvision"
    found = read(ended, measures)
    if isinstance(found, Ended):
        if found.end == "raised" and _ONLY_PTX.search(found.text):
            return Check(name=name, outcome="skipped", expected="native code", seen="JIT-compiled: " + found.text)
        return unhappy(name, found, "native code, or JIT")
    check = judge(name, found, ended.seconds)
    return (
        check
        if check.outcome == "failed"
        else replace(check, expected="native code", seen="native: it runs without JIT")
    )
