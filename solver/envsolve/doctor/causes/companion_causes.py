"""Companions: torchvision, torchaudio and pinned libraries of another version or another build than torch."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import choose, new_environment, pins, planned, same_version
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Companion, Situation
from envsolve.doctor.torch_state import variant_of_cuda
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex
from envsolve.resolve.plan import Plan

_BROKEN = (
    "missing-operator", "undefined-symbol", "load-failed", "dll-failed", "symbol-not-found", "moved-name",
    "no-attribute", "different-cuda", "no-shared-object", "image-extension",
)  # fmt: skip
_COMPANION_FILE = regex(r"torch(?:vision|audio)[/\\]|libtorchaudio|torchvision\.")
_PINNED = ("triton", "torchtext")


def two_distributors(s: Situation) -> Finding | None:
    """conda's pytorch and pip's torch in one environment."""
    conda, pip = s.evidence.installed.get("pytorch"), s.evidence.installed.get("torch")
    if conda is None or pip is None or not (conda.build or conda.channel):
        return None
    from_pypi = pip.channel == "pypi" or "pypi" in pip.build
    # conda's pytorch shows in pip's list as torch of the same version.
    if not from_pypi and (pip.public == conda.public or pip.source == "printed" or not s.is_failing):
        return None
    headline = f"two distributors in one environment: conda's pytorch {conda.version} and pip's torch {pip.version}"
    text, command = "make a new environment with torch from one of them", "envsolve install --name NAME torch"
    shown = s.evidence.all(*_BROKEN)[:2]
    return finding(s, "variant-mismatch", headline, shown=shown, fixes=[fix(text, command)], certainty="medium")


def wrong_version(s: Situation) -> Finding | None:
    """A companion whose version does not belong to this torch."""
    wrong = [c for c in s.companions if c.belongs is False]
    version = s.torch.version
    if not wrong or version is None or s.torch.vendor:
        return None
    names = " and ".join(f"{c.name} {c.text}" for c in wrong)
    return finding(
        s,
        "companion-mismatch",
        f"{names} {'does' if len(wrong) == 1 else 'do'} not belong to torch {version}: that goes with "
        f"{pins(s, version)}",
        shown=s.evidence.all(*_BROKEN)[:2],
        more=_belongs_to(s, wrong[0]),
        fixes=_matching(s),
    )


def _belongs_to(s: Situation, companion: Companion) -> Iterator[str]:
    other = s.torch_for(companion.name, companion.version) if companion.version else None
    if other is not None:
        yield f"{companion.name} {companion.version} belongs to torch {other}"


def _matching(s: Situation) -> Iterator[Fix]:
    """The set that belongs together, of this torch; where there is a GPU never the CPU's."""
    variant = s.torch.variant or None
    if s.torch.accelerator == "cpu" and s.machine.vendor == "nvidia":
        variant = next((c.variant for c in s.companions if c.variant.startswith("cu")), None)
    found = _nearest(s, variant)
    if found is not None:
        yield new_environment(found, "which belong together")
    elif s.torch.version is not None:
        label = f"+{variant}" if variant else ""
        row = s.rulebook.companions.get(s.torch.version)
        versions = row.versions if row else {}
        names = [f"{n}=={v[0]}{label}" for n, v in versions.items() if v and n in s.evidence.installed]
        index = ["--index-url", f"{PYTORCH_INDEX}/{variant}"] if variant else []
        command = shlex.join(["pip", "install", f"torch=={s.torch.version}{label}", *names, *index])
        yield fix("install the set that belongs together, in one step, in a new environment", command)
        yield choose(s)


def _nearest(s: Situation, variant: str | None) -> Plan | None:
    """The plan that keeps the torch before the variant, and either before neither."""
    plans = [planned(s, torch=same_version(s), variant=wished) for wished in dict.fromkeys((variant, None))]
    same = (plan for plan in plans if plan and plan.build.torch == s.torch.version)
    return next(same, None) or next(filter(None, plans), None)


def variant(s: Situation) -> Finding | None:
    """Versions that belong together, in builds that do not."""
    return _said_different(s) or _labels_differ(s) or _without_cuda(s)


def _without_cuda(s: Situation) -> Finding | None:
    """A companion that has its operators for the CPU alone, beside a torch that puts tensors on the GPU."""
    found = s.evidence.all("no-cuda-operator")
    shown = next((x for x in found if x.get("space") in ("torchvision", "torchaudio")), None)
    if shown is None:
        return None
    name = shown.get("space")
    headline = f"{name} is a CPU build, torch is one for CUDA"
    text = f"take torch and {name} from one index, in one step, in a new environment"
    way = fix(text, f"envsolve install --name NAME torch {name}")
    return finding(s, "variant-mismatch", headline, shown=[shown], fixes=[*_matching(s)] or [way])


def _said_different(s: Situation) -> Finding | None:
    found = s.evidence.all("different-cuda")
    shown = next((x for x in found if x.get("other").lower() in ("torchvision", "torchaudio")), None)
    if shown is None:
        return None
    name, own = shown.get("other").lower(), shown.get("torch")  # torchaudio calls itself TorchAudio
    command = f"envsolve install --name NAME torch {name} --variant {variant_of_cuda(own)}"
    return finding(
        s,
        "variant-mismatch",
        f"{name} is a build for CUDA {shown.get('theirs')}, torch one for CUDA {own}",
        shown=[shown],
        fixes=[fix("take both from one index, in one step, in a new environment", command)],
    )


def _labels_differ(s: Situation) -> Finding | None:
    mine = s.torch.variant
    wrong = [c for c in s.companions if c.variant and mine and c.variant != mine]
    if not wrong or not s.torch.certain:
        return None
    first = wrong[0]
    plain = "" if "+" in first.text else " of the default Python index"
    return finding(
        s,
        "variant-mismatch",
        f"torch is a {mine} build, {first.name} {first.text}{plain} a {first.variant} build",
        shown=s.evidence.all(*_BROKEN)[:2],
        fixes=_matching(s),
        certainty="medium" if plain else "high",
    )


def by_symptom(s: Situation) -> Finding | None:
    """A message that only a wrong pair gives, or a pinned library of another torch."""
    return _mkl(s) or _broken_pair(s) or _pinned_library(s)


def _mkl(s: Situation) -> Finding | None:
    shown = s.evidence.first("jni-notify")
    if shown is None:
        return None
    mkl = " ".join(["mkl", s.evidence.version("mkl")]).strip()
    text = "go back to the mkl of its time: conda's solver does not hold the two together"
    way = fix(text, f'conda install "{s.facts.before("mkl")}"')
    return finding(
        s, "companion-mismatch", f"conda's {mkl} is newer than this pytorch was built with", shown=[shown], fixes=[way]
    )


def _broken_pair(s: Situation) -> Finding | None:
    """A companion's binary that meets another torch, where the versions do not show it."""
    shown = _companion_message(s)
    if shown is None:
        return None
    modules = {module_of(f.path) for f in s.evidence.frames}
    audio = "torchaudio" in shown.text or ("torchvision" not in shown.text and "torchaudio" in modules)
    name = "torchaudio" if audio else "torchvision"
    if s.torch.known and s.companions and all(c.belongs for c in s.companions):
        headline = f"torch and {name} have the right versions, but come from different builds"
        return finding(s, "variant-mismatch", headline, shown=[shown], fixes=_matching(s), certainty="medium")
    known = s.torch.known and any(c.name == name for c in s.companions)
    whose = s.torch.shown if s.torch.known else "the installed one"
    text = f"install torch and {name} together, from one index, in a new environment"
    return finding(
        s,
        "companion-mismatch",
        f"{name} was built for another torch than {whose}",
        shown=[shown],
        fixes=[fix(text, f"envsolve install --name NAME torch {name}")],
        certainty="medium" if known else "low",
    )


def _companion_message(s: Situation) -> Symptom | None:
    shown = s.evidence.first("missing-operator")
    if shown is not None and re.match(r"torch(?:vision|audio)::", shown.get("operator") or "torchvision::"):
        return shown
    if lacks := _lacks(s):
        return lacks
    found = s.evidence.all("undefined-symbol", "load-failed", "symbol-not-found", "dll-failed")
    if s.companions and all(c.belongs and c.variant in ("", s.torch.variant) for c in s.companions):
        found = tuple(x for x in found if x.line not in s.evidence.lines("image-extension"))
    return next((symptom for symptom in found if _of_companion(s, symptom)), None)


def _of_companion(s: Situation, shown: Symptom) -> bool:
    """Whether a library that did not load is a companion's: by its name, or by the file that was loading it."""
    if _COMPANION_FILE.search(shown.text):
        return True
    if shown.name != "dll-failed" or shown.get("library") or shown.get("module"):
        return False
    above = [module_of(f.path) for f in s.evidence.frames if f.line <= shown.line and f.path.endswith(".py")]
    loading = next((module for module in reversed(above) if module != "torch"), "")
    return loading in ("torchvision", "torchaudio")


def _lacks(s: Situation) -> Symptom | None:
    """A part of torch that a companion asks for and this torch has not."""
    modules = {module_of(f.path) for f in s.evidence.frames}
    return s.evidence.first("torch-lacks") if modules & {"torchvision", "torchaudio"} else None


def _without(s: Situation, name: str) -> Fix:
    """For a package of which nothing belongs to this torch."""
    newest = s.facts.newest_pair(name)
    wanted = s.facts.wanted_torch(name, newest) if newest else None
    ended = f"{name} {newest} is the newest that is known and belongs to torch{wanted}: " if wanted else ""
    return fix(f"{ended}do without {name}, or go back to that torch", f"pip uninstall {name}")


def _pinned_library(s: Situation) -> Finding | None:
    """triton, torchtext and the like, of another torch, when a message names them."""
    for name in _PINNED:
        installed, version = s.evidence.version(name), s.torch.version
        wanted = s.facts.wanted_torch(name, installed) if installed else None
        if wanted is None or version is None or wanted.contains(version, prereleases=True) or s.torch.vendor:
            continue
        shown = [x for x in s.evidence.symptoms if name in x.text.lower() and x.name != "conflict-line"]
        if shown:
            right = s.facts.paired(name, version)
            way = fix(f"put {name} {right} in its place", f"pip install --no-deps {name}=={right}") if right else None
            way = way or _without(s, name)
            headline = f"{name} {installed} belongs to torch{wanted}, installed is {s.torch.shown}"
            return finding(s, "companion-mismatch", headline, shown=shown[:2], fixes=[way])
    return None
