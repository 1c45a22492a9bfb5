"""Replaced: a later install put another torch in place of the right one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import constraint, new_environment, planned
from envsolve.doctor.situation import Situation
from envsolve.doctor.swap import Swap, last_swap
from envsolve.doctor.torch_state import public
from envsolve.doctor.wording import shortened
from envsolve.doctor.write import finding, fix


def replaced(s: Situation) -> Finding | None:
    """The last swap of torch, when what came in is worse, or not what was asked for."""
    swap = last_swap(s.evidence)
    if swap is None or not _is_worse(s, swap):
        return None
    by = f"`{shortened(swap.command.text)}`" if swap.command and swap.command.text else "a later install"
    before, after = _shown(swap.before, swap.build_before), _shown(swap.after, swap.build_after)
    return finding(
        s,
        "build-replaced",
        f"torch {before} was replaced by {after} by {by}",
        more=[f"why: {swap.chain}"] if swap.chain else [],
        fixes=_fixes(s, swap),
    )


def _shown(version: str, build: str) -> str:
    return f"{version} ({build})" if build else version


def _is_worse(s: Situation, swap: Swap) -> bool:
    """Whether the swap did harm: not when the user asked for this very version."""
    if swap.asked_for:
        return False
    if swap.lost_vendor_build or _pinned(s, swap.before):
        return True
    before, after = swap.variant_before, swap.variant_after or s.torch.variant
    lost_cuda = before not in ("", "cpu") and after in ("", "cpu")
    if lost_cuda and (after == "cpu" or s.machine.os == "windows"):
        return True
    return s.is_failing or s.served is False or _unfit(s)


def _unfit(s: Situation) -> bool:
    return bool(s.fit and s.fit.refusals) or any(c.belongs is False for c in s.companions)


def _pinned(s: Situation, version: str) -> bool:
    """Whether somebody asked for exactly the version that was lost."""
    wanted = re.compile(rf"torch==?{re.escape(version.split('+')[0])}(?:\+|$)")
    return any(wanted.match(r) for c in s.evidence.commands for r in c.requirements)


def _fixes(s: Situation, swap: Swap) -> Iterator[Fix]:
    variant = swap.variant_before
    if swap.lost_vendor_build:
        yield _vendor(swap)
    elif variant == "cuda":
        yield fix(
            f"make a new environment with pytorch {swap.before} pinned as a CUDA build, in one step with the rest"
        )
    elif variant in ("", "cpu"):
        yield fix("what came later requires the newer torch: drop the old pin, or take a release of it that allows it")
        yield constraint(swap.before)
    else:
        yield from _one_step(s, swap, variant)


def _package(swap: Swap) -> str:
    """What the later install was for."""
    names = swap.command.requirements if swap.command else ()
    return next((name for name in names if not name.startswith((".", "-"))), "")


def _vendor(swap: Swap) -> Fix:
    text = (
        f"bring the vendor's build {swap.before} back (it is on no index: take the vendor's wheel or image again) and "
        "install the rest against a constraint on exactly this version; it counts as a pre-release"
    )
    package = _package(swap) or "PACKAGE"
    return fix(text, f"echo 'torch=={swap.before}' > constraints.txt", f"pip install --no-deps {package}")


def _one_step(s: Situation, swap: Swap, variant: str) -> Iterator[Fix]:
    """Everything in one resolution, with the label in the pin."""
    pin = swap.before if "+" in swap.before else f"{swap.before}+{variant}"
    version = public(pin)
    row = s.rulebook.companions.get(version) if version else None
    versions = row.versions if row else {}
    plan = planned(s, torch=str(version)) if s.evidence.live else None
    if plan is not None and plan.build.torch == version:
        yield new_environment(plan, "which has the torch that was there")
    names = [f"{n}=={v[0]}+{variant}" for n, v in versions.items() if v and n in s.evidence.installed]
    words = ["pip", "install", f"torch=={pin}", *names, *filter(None, [_package(swap)])]
    text = "make a new environment and resolve everything in one step, with the label in the pin"
    yield fix(text, shlex.join([*words, "--extra-index-url", f"{PYTORCH_INDEX}/{variant}"]))
    yield constraint(pin)
