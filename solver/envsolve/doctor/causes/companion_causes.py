"""Companions: torchvision, torchaudio and pinned libraries of another version or another build than torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import new_environment, pins, planned, same_version
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Companion, Situation
from envsolve.doctor.torch_state import variant_of_cuda
from envsolve.doctor.wording import facts_of, quoted

# What goes wrong when a companion's binary meets another torch.
_BROKEN = (
    "missing-operator", "undefined-symbol", "load-failed", "dll-failed", "symbol-not-found", "moved-name", "no-attribute",
    "different-cuda", "no-shared-object", "image-extension",
)  # fmt: skip
_TORCH_FAMILY = ("torch", "torchvision", "torchaudio", "torchgen", "functorch", "triton", "nvidia")


def wrong_version(s: Situation) -> Finding | None:
    """A companion whose version does not belong to this torch."""
    wrong = [c for c in s.companions if c.belongs is False]
    return _version_mismatch(s, wrong) if wrong and s.torch.known and not s.torch.vendor else None


def by_symptom(s: Situation) -> Finding | None:
    """A message that only a wrong pair gives, or a pinned library of another torch."""
    return _by_symptom(s) or _pinned_library(s)


def _version_mismatch(s: Situation, wrong: list[Companion]) -> Finding:
    assert s.torch.version is not None
    first = wrong[0]
    names = " and ".join(f"{c.name} {c.text}" for c in wrong)
    belong = pins(s, s.torch.version)
    other = s.torch_for(first.name, first.version) if first.version else None
    lines = [f"{first.name} {first.version} belongs to torch {other}"] if other else []
    return Finding(
        code="companion-mismatch",
        headline=f"{names} does not belong to torch {s.torch.version}: that goes with {belong}",
        certainty="high",
        evidence=tuple([*quoted(s.evidence.all(*_BROKEN)[:2]), *lines, *facts_of(s)]),
        fixes=tuple(_matching(s)),
    )


def _matching(s: Situation) -> Iterator[Fix]:
    """The set that belongs together, of this torch."""
    variant = s.torch.variant or None
    found = planned(s, torch=same_version(s), variant=variant) or planned(s, torch=same_version(s))
    if found is not None:
        yield new_environment(found, "which belong together")
        return
    assert s.torch.version is not None
    label = f"+{variant}" if variant else ""
    row = s.rulebook.companions.get(s.torch.version)
    names = [f"{n}=={v[0]}{label}" for n, v in (row.versions.items() if row else ()) if v and n in s.evidence.installed]
    index = f" --index-url https://download.pytorch.org/whl/{variant}" if variant else ""
    command = f"pip install torch=={s.torch.version}{label} {' '.join(names)}{index}"
    yield Fix(text="install the set that belongs together, in one step, in a new environment", commands=(command,))


def _by_symptom(s: Situation) -> Finding | None:
    """Messages that only a wrong pair gives, where the versions are not known to the rules."""
    e = s.evidence
    shown = e.first("missing-operator")
    if shown is None or not re.match(r"torch(?:vision|audio)::", shown.get("operator") or "torchvision::"):
        shown = _companion_symbol(s)
    if shown is None:
        return None
    name = "torchaudio" if "torchaudio" in shown.text else "torchvision"
    if all(c.belongs for c in s.companions) and s.companions and s.torch.known:
        return _same_versions_other_build(s, shown.text, name)
    known = s.torch.known and any(c.name == name for c in s.companions)
    return Finding(
        code="companion-mismatch",
        headline=f"{name} was built for another torch than {s.torch.shown if s.torch.known else 'the installed one'}",
        certainty="medium" if known else "low",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(
            Fix(
                text=f"install torch and {name} together, from one index, in a new environment",
                commands=(f"envsolve install --name NAME torch {name}",),
            ),
        ),
    )


def _companion_symbol(s: Situation):  # type: ignore[no-untyped-def]
    for symptom in s.evidence.all("undefined-symbol", "load-failed", "symbol-not-found", "dll-failed"):
        if re.search(r"torch(?:vision|audio)[/\\]|libtorchaudio|torchvision\.", symptom.text):
            return symptom
    return None


def _same_versions_other_build(s: Situation, message: str, name: str) -> Finding:
    return Finding(
        code="variant-mismatch",
        headline=f"torch and {name} have the right versions, but come from different builds",
        certainty="medium",
        evidence=(message, *facts_of(s)),
        fixes=tuple(_matching(s)),
    )


def _pinned_library(s: Situation) -> Finding | None:
    """triton, torchtext and the like, of another torch."""
    e = s.evidence
    for name in ("triton", "torchtext"):
        wanted = s.facts.wanted_torch(name, e.version(name)) if e.version(name) else None
        if wanted is None or s.torch.version is None or wanted.contains(s.torch.version, prereleases=True):
            continue
        shown = [x for x in e.symptoms if name in x.text.lower() and x.name not in ("conflict-line",)]
        if not shown or s.torch.vendor:
            continue
        right = s.facts.paired(name, s.torch.version)
        fix = f"{name} {right}" if right else f"the {name} that torch itself requires"
        return Finding(
            code="companion-mismatch",
            headline=f"{name} {e.version(name)} belongs to torch{wanted}, installed is {s.torch.shown}",
            certainty="high",
            evidence=tuple([*quoted(shown[:2]), *facts_of(s)]),
            fixes=(Fix(text=f"put {fix} in its place", commands=(f"pip install {name}=={right}",) if right else ()),),
        )
    return None


def variant(s: Situation) -> Finding | None:
    """Versions that belong together, in builds that do not."""
    return _said_different(s) or _labels_differ(s)


def _said_different(s: Situation) -> Finding | None:
    shown = next((x for x in s.evidence.all("different-cuda") if x.get("other") in ("torchvision", "torchaudio")), None)
    if shown is None:
        return None
    theirs, own = shown.get("theirs"), shown.get("torch")
    code = "companion-mismatch" if any(c.belongs is False for c in s.companions) else "variant-mismatch"
    return Finding(
        code=code,
        headline=f"{shown.get('other')} is a build for CUDA {theirs}, torch one for CUDA {own}",
        certainty="high",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(
            Fix(
                text="take both from one index, in one step, in a new environment",
                commands=(f"envsolve install --name NAME torch {shown.get('other')} --variant {variant_of_cuda(own)}",),
            ),
        ),
    )


def _labels_differ(s: Situation) -> Finding | None:
    mine = s.torch.variant
    wrong = [c for c in s.companions if c.variant and mine and c.variant != mine and _same_machine(c.variant, mine)]
    if not wrong or not s.torch.certain:
        return None
    first = wrong[0]
    plain = "" if "+" in first.text else " of the default Python index"
    return Finding(
        code="variant-mismatch",
        headline=f"torch is a {mine} build, {first.name} {first.text}{plain} a {first.variant} build",
        certainty="high" if not plain else "medium",
        evidence=tuple([*quoted(s.evidence.all(*_BROKEN)[:2]), *facts_of(s)]),
        fixes=tuple(_matching(s)),
    )


def _same_machine(one: str, other: str) -> bool:
    """Whether two variants exclude each other: a CUDA line differs, or CPU stands next to it."""
    return one != other


def two_distributors(s: Situation) -> Finding | None:
    """conda's pytorch and pip's torch in one environment."""
    conda = s.evidence.installed.get("pytorch")
    pip = s.evidence.installed.get("torch")
    if conda is None or pip is None or not (conda.build or conda.channel):
        return None
    from_pypi = pip.channel == "pypi" or "pypi" in pip.build
    # conda's pytorch shows in pip's list as torch of the same version.
    if not from_pypi and (pip.public == conda.public or pip.source == "printed" or not s.is_failing):
        return None
    return Finding(
        code="variant-mismatch",
        headline=f"two distributors in one environment: conda's pytorch {conda.version} and pip's torch {pip.version}",
        certainty="medium",
        evidence=tuple(facts_of(s)),
        fixes=(
            Fix(
                text="make a new environment with torch from one of them",
                commands=("envsolve install --name NAME torch torchvision torchaudio",),
            ),
        ),
    )


def is_family(path: str) -> bool:
    """Whether a file belongs to torch, its companions or the CUDA libraries that they bring."""
    return module_of(path) in _TORCH_FAMILY
