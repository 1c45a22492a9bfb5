"""Installs that fail for the version: a Python without a file, a name, number or label that does not exist."""

from __future__ import annotations

import re
from collections.abc import Sequence

from packaging.version import Version

from envsolve.doctor.failed import FAMILY, RELATED, Failed, failed, index_urls, index_variant, only_index
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import ASK_PYTHON
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import python_of, quoted
from envsolve.dotted import Dotted
from envsolve.judge.host import minor_of, python_refusal
from envsolve.rulebook.tables import Build


def wrong_tag(s: Situation) -> Finding | None:
    """A wheel file that pip refuses: its Python, its system, or its processor is another one."""
    shown = s.evidence.first("pip-wrong-tag")
    if shown is None:
        return None
    file = shown.get("file").replace("%2B", "+")
    tag = re.search(r"-cp3(\d{1,2})-", file)
    python = s.machine.python
    system = _other_system(s, file)
    if system and not (tag and python and f"3.{tag[1]}" != python.rstrip("t")):
        return _version(s, "no-wheel", f"{file} is for {system}, which this machine is not", [shown.text],
                        Fix(text="take the file for this system and processor, or let pip choose by version"))  # fmt: skip
    have = f", this is {python_of(s.evidence)}" if python else ""
    want = f"Python 3.{tag[1]}" if tag else "another Python"
    return _version(s, "python-unsupported", f"{file} is for {want}{have}", [shown.text],
                    Fix(text=f"use {want}, or the file of the same release for this Python"), certainty="high" if python else "medium")  # fmt: skip


def _other_system(s: Situation, file: str) -> str:
    known = s.evidence.host.known
    for words, os in ((("win_amd64", "win32", "win_arm64"), "windows"), (("linux",), "linux"), (("macosx",), "macos")):
        if any(word in file for word in words) and "os" in known and s.machine.os != os:
            return {"windows": "Windows", "linux": "Linux", "macos": "macOS"}[os]
    arm = "aarch64" in file or "arm64" in file
    if "arch" in known and arm != (s.machine.arch != "x86_64"):
        return "64-bit Arm" if arm else "x86_64"
    return ""


def unmet_version(s: Situation) -> Finding | None:
    """The requirement of torch or a companion that no index could meet: which part of it is the guilty one."""
    bad_name = s.evidence.first("pytorch-name")
    if bad_name:
        return _version(
            s,
            "no-wheel",
            'the package is called "torch", not "pytorch"',
            [bad_name.text],
            Fix(text="install torch", commands=("envsolve install --name NAME torch torchvision torchaudio",)),
        )
    for unmet in failed(s.evidence):
        if unmet.name in RELATED and (found := _judge(s, unmet)) is not None:
            return found
    return None


def _judge(s: Situation, unmet: Failed) -> Finding | None:
    if unmet.symptom.name == "conda-not-found":
        return _conda(s, unmet)
    if unmet.symptom.name == "uv-abi":
        return _python(s, unmet, [])
    if unmet.name == "triton":
        return _triton(s, unmet)
    if unmet.name == "torch":
        return _torch(s, unmet)
    if unmet.name in FAMILY:
        return _companion(s, unmet)
    return _version(
        s,
        "no-wheel",
        f"there is no {unmet.shown}",
        [unmet.symptom.text],
        Fix(text="drop it: torch needs no such package"),
    )


def _torch(s: Situation, unmet: Failed) -> Finding | None:
    """Release, label, platform, Python, index: the first that cannot hold."""
    version, variant = unmet.version, unmet.variant or _index_only_variant(s)
    if version is not None and version not in s.rulebook.releases and _known_range(s, version):
        return _version(s, "no-wheel", f"there is no torch {version}", [unmet.symptom.text], _nearest(s, version))
    if unmet.label and not unmet.variant:
        return _version(
            s, "no-wheel", f"the label +{unmet.label} is none of the index's", [unmet.symptom.text], _labels(s, version)
        )
    builds = _builds(s, version, unmet)
    if version is not None and variant and not [b for b in builds if b.variant == variant]:
        return _no_variant(s, unmet, version, variant, in_label=bool(unmet.variant))
    asked = [b for b in builds if not variant or b.variant == variant]
    if version is None and variant and not asked:
        return _ended(s, unmet, variant)
    if not _python_serves(s, asked):
        return _python(s, unmet, asked)
    if _offered_tells(s, unmet, asked):
        return _python(s, unmet, asked)
    if unmet.label and not any(
        index_variant(u) == unmet.variant or "torch_stable" in u for u in index_urls(s.evidence)
    ):
        url = f"https://download.pytorch.org/whl/{unmet.variant}"
        return _version(s, "index-problem", f"{unmet.shown} is only on the PyTorch index, which was not given", [unmet.symptom.text],
                        Fix(text="give its index", commands=(f"pip install {unmet.text} --index-url {url}",)))  # fmt: skip
    if not s.machine.python and unmet.offered == () and version is None:
        return _ask_python(s, unmet)
    if unmet.offered == () and _python_is_extreme(s):
        return _python(s, unmet, asked)
    if unmet.offered == () and not s.machine.python:
        return _ask_python(s, unmet)
    return None


def _known_range(s: Situation, version: Version) -> bool:
    return bool(s.rulebook.torch_versions) and s.rulebook.torch_versions[0] <= version and not version.is_prerelease


def _index_only_variant(s: Situation) -> str:
    return index_variant(only_index(s.evidence))


def _builds(s: Situation, version: Version | None, unmet: Failed) -> list[Build]:
    """The builds on this platform that the requirement allows."""
    builds = s.rulebook.builds_on(s.machine.platform)
    if version is not None:
        return [b for b in builds if b.torch == version]
    return [b for b in builds if unmet.specifier is None or unmet.specifier.contains(b.torch)]


def _python_serves(s: Situation, builds: Sequence[Build]) -> bool:
    """Whether this Python has a file of one of these builds; True where either is unknown."""
    python = s.machine.python
    return python is None or not builds or any(python_refusal(b, python) is None for b in builds)


def _python_is_extreme(s: Situation) -> bool:
    """Whether this Python is so new that only the last few releases have files for it, or as old as no release has."""
    if s.machine.python is None:
        return False
    minor = minor_of(s.machine.python)
    firsts = [b.python[1] for b in s.rulebook.builds_on(s.machine.platform)]
    return bool(firsts) and (minor >= max(firsts) or minor >= Dotted.parse("3.12") or minor < Dotted.parse("3.8"))


def _offered_tells(s: Situation, unmet: Failed, asked: Sequence[Build]) -> bool:
    """Whether what is offered instead belongs to a Python that the wanted release has no file for.

    The lowest torch that an index offers grows with the Python, the highest shrinks with an old one.
    """
    offered = unmet.offered
    if not offered or unmet.version is None:
        return False
    if unmet.version < offered[0]:
        return True
    if unmet.version > offered[-1] and asked:
        lasts = [p for p in _pythons(s) if _highest(s, p) == offered[-1]]
        return bool(lasts) and all(not _python_fits(p, asked) for p in lasts)
    return False


def _pythons(s: Situation) -> list[Dotted]:
    return sorted({p for b in s.rulebook.builds_on(s.machine.platform) for p in b.python})


def _highest(s: Situation, python: Dotted) -> Version | None:
    builds = s.rulebook.builds_on(s.machine.platform)
    return max((b.torch for b in builds if b.python[0] <= python <= b.python[1]), default=None)


def _python_fits(python: Dotted, builds: Sequence[Build]) -> bool:
    return any(b.python[0] <= python <= b.python[1] for b in builds)


def _python(s: Situation, unmet: Failed, asked: Sequence[Build]) -> Finding:
    """That release has no file for this Python."""
    spans = [(b.python[0], b.python[1]) for b in asked]
    span = f" (it has {min(a for a, _ in spans)} to {max(z for _, z in spans)})" if spans else ""
    guessed = _guessed_python(s, unmet)
    who = python_of(s.evidence) if s.machine.python else f"Python {guessed}" if guessed else "this Python"
    lines = [unmet.symptom.text]
    if guessed:
        lines.append(
            f"the lowest version offered is {unmet.offered[0] if unmet.offered else '?'}: that is Python {guessed}"
        )
    last = max((z for _, z in spans), default=None)
    fix = f"use Python {last}" if last else "use a Python that it has a file for"
    return Finding(
        code="python-unsupported",
        headline=f"{unmet.shown} has no file for {who}{span}",
        certainty="high" if s.machine.python or guessed else "medium",
        evidence=tuple(lines),
        fixes=(
            Fix(
                text=f"{fix}, or a newer release of {unmet.name}",
                commands=(
                    f"envsolve plan {unmet.name}{f'=={unmet.version}' if unmet.version else ''}{f' --python {last}' if last else ''}",
                ),
            ),
        ),
        missing=() if s.machine.python or guessed else (ASK_PYTHON,),
    )


def _guessed_python(s: Situation, unmet: Failed) -> Dotted | None:
    """The Python whose lowest torch on this platform is the lowest one offered."""
    if not unmet.offered or s.machine.python or unmet.name != "torch":
        return None
    builds = s.rulebook.builds_on(s.machine.platform)
    for python in reversed(_pythons(s)):
        lowest = min((b.torch for b in builds if b.python[0] <= python <= b.python[1]), default=None)
        if lowest == unmet.offered[0]:
            return python
    return None


def _ask_python(s: Situation, unmet: Failed) -> Finding:
    return Finding(
        code="unknown",
        headline=f"the index has no {unmet.shown} for this Python, which is not known",
        certainty="low",
        evidence=(unmet.symptom.text,),
        missing=(ASK_PYTHON,),
    )


def _no_variant(s: Situation, unmet: Failed, version: Version, variant: str, *, in_label: bool) -> Finding:
    """The release has no such variant: nowhere, or not on this platform."""
    here = [b.variant for b in s.rulebook.builds_on(s.machine.platform) if b.torch == version]
    there = [p for p in s.rulebook.platforms if s.rulebook.build(version, variant, p)]
    why = next((n.reason for n in s.rulebook.not_published if n.variant == variant and n.torch.contains(version)), "")
    where = f"for {s.machine.platform.replace('_', ' ', 1)}" if there else "at all"
    headline = f"torch {version} has no {variant} build {where}{f': {why}' if why else ''}"
    lines = [unmet.symptom.text, *([f"it has {', '.join(here)}"] if here else [])]
    if not in_label and not there and unmet.offered is None and not here:
        return _version(s, "index-problem", headline, lines, _labels(s, version))
    return _version(s, "no-wheel", headline, lines, _labels(s, version))


def _ended(s: Situation, unmet: Failed, variant: str) -> Finding | None:
    """A range that begins after the last release of the index's variant."""
    held = [b.torch for b in s.rulebook.builds_on(s.machine.platform) if b.variant == variant]
    if not held:
        return _version(
            s, "no-wheel", f"there is no {variant} index for this platform", [unmet.symptom.text], _labels(s, None)
        )
    headline = f"the {variant} index ends with torch {max(held)}, {unmet.text} is not on it"
    return _version(s, "no-wheel", headline, [unmet.symptom.text], _labels(s, None))


def _labels(s: Situation, version: Version | None) -> Fix:
    builds = [b for b in s.rulebook.builds_on(s.machine.platform) if (b.torch == version if version else True)]
    names = list(dict.fromkeys(b.variant for b in builds))[-6:] if version else []
    text = (
        f"torch {version} comes as {', '.join(names)}: take one that the driver and the GPU allow"
        if names
        else "let the planner choose"
    )
    return Fix(text=text, commands=(f"envsolve plan torch{f'=={version}' if version and names else ''}",))


def _nearest(s: Situation, version: Version) -> Fix:
    older = [v for v in s.rulebook.torch_versions if v < version]
    newer = [v for v in s.rulebook.torch_versions if v > version]
    near = " or ".join(str(v) for v in (*older[-1:], *newer[:1]))
    return Fix(
        text=f"the releases next to it are {near}",
        commands=(f"envsolve plan torch=={(older or newer)[-1] if older else newer[0]}",),
    )


def _companion(s: Situation, unmet: Failed) -> Finding | None:
    """A torchvision or torchaudio that does not exist, or not for this label or Python."""
    version = unmet.version
    if version is None:
        return _companion_python(s, unmet, None)
    known = s.rulebook.companion_versions(unmet.name)
    paired = s.torch_for(unmet.name, version)
    if known and version not in known and paired is None and known[0] <= version:
        return _version(
            s,
            "no-wheel",
            f"there is no {unmet.name} {version}",
            [unmet.symptom.text],
            Fix(
                text="take the one that belongs to your torch", commands=("envsolve plan torch torchvision torchaudio",)
            ),
        )
    if unmet.variant and s.rulebook.companion_listing_complete(unmet.name, version):
        if s.rulebook.companion_builds(unmet.name, version, unmet.variant, s.machine.platform) is None:
            text = f"{unmet.name} {version} has no {unmet.variant} build for {s.machine.platform.replace('_', ' ', 1)}"
            return _version(s, "no-wheel", text, [unmet.symptom.text], _labels(s, paired))
    return _companion_python(s, unmet, paired)


def _companion_python(s: Situation, unmet: Failed, torch: Version | None) -> Finding | None:
    builds = [b for b in s.rulebook.builds_on(s.machine.platform) if torch is None or b.torch == torch]
    asked = [b for b in builds if not unmet.variant or b.variant == unmet.variant]
    tells = bool(unmet.offered) and unmet.version is not None and unmet.version < (unmet.offered or (unmet.version,))[0]
    if not _python_serves(s, asked) or tells or (unmet.offered == () and _python_is_extreme(s)):
        return _python(s, unmet, asked if torch else [])
    if unmet.offered == () and s.machine.python is None and not unmet.label:
        return _ask_python(s, unmet)
    return None


def _triton(s: Situation, unmet: Failed) -> Finding | None:
    if s.machine.os == "linux" and "os" in s.evidence.host.known:
        return None
    where = {"windows": "Windows", "macos": "macOS", "linux": "this system"}[s.machine.os]
    return _version(s, "no-wheel", f"triton has no wheels for {where}", [unmet.symptom.text],
                    Fix(text="leave it out: torch requires it on Linux only (a marker sys_platform == 'linux' does it); on Windows the package is triton-windows"))  # fmt: skip


def _conda(s: Situation, unmet: Failed) -> Finding | None:
    """A package that conda's channels do not have."""
    held = s.facts.conda_range(unmet.name)
    if unmet.name == "torch":
        return _version(
            s,
            "no-wheel",
            "conda's package is called pytorch, not torch",
            [unmet.symptom.text],
            Fix(
                text="install pytorch from conda-forge, or torch with pip",
                commands=("conda install -c conda-forge pytorch",),
            ),
        )
    if unmet.name == "pytorch-cuda" and held and held.first and held.last:
        headline = f"there is no {unmet.text.strip()}: pytorch-cuda exists from {held.first} to {held.last}"
        if unmet.version and held.first <= Dotted.parse(str(unmet.version)) <= held.last:
            return _version(
                s,
                "index-problem",
                f"{unmet.text} is on the channels pytorch and nvidia, which were not both given",
                [unmet.symptom.text],
                Fix(text="give both channels, or use pip", commands=("envsolve plan torch torchvision torchaudio",)),
            )
        return _version(s, "no-wheel", headline, [unmet.symptom.text],
                        Fix(text="older CUDA: cudatoolkit with the pytorch of its time; newer: pip, since the channel has ended", commands=("envsolve plan torch torchvision torchaudio",)))  # fmt: skip
    if (
        unmet.name == "pytorch"
        and held
        and held.last
        and unmet.version
        and Dotted.parse(str(unmet.version.base_version)) > held.last
    ):
        return _version(
            s,
            "index-problem",
            f"the conda channel pytorch ended with {held.last}",
            [unmet.symptom.text],
            Fix(text="take it from conda-forge or with pip", commands=(f"envsolve plan torch=={unmet.version}",)),
        )
    if unmet.name in ("cudatoolkit", "pytorch-cuda") and s.machine.os == "macos":
        return _version(
            s,
            "no-wheel",
            f"{unmet.name} has no build for macOS, which has no CUDA",
            [unmet.symptom.text],
            Fix(text="leave it out"),
        )
    headline = f"the given channels have no {unmet.text.strip()} for this platform"
    return _version(
        s,
        "no-wheel",
        headline,
        [unmet.symptom.text],
        Fix(text="take a version that is there", commands=("envsolve plan torch torchvision torchaudio",)),
    )


def _version(s: Situation, code: str, headline: str, lines: list[str], fix: Fix, *, certainty: str = "high") -> Finding:
    return Finding(code=code, headline=headline, certainty=certainty, evidence=tuple(lines), fixes=(fix,))  # type: ignore[arg-type]


def required_python(s: Situation) -> Finding | None:
    """A resolver or a build says in plain words that the Python is the wrong one."""
    shown = s.evidence.first("uv-hint-python", "requires-python", "uv-abi")
    if shown is None:
        return None
    package = shown.get("package")
    if shown.name == "requires-python" and not s.evidence.has(
        "pip-none", "pip-no-match", "uv-no-solution", "conflict", "error-line"
    ):
        return None
    if package and package not in (*RELATED, *s.facts.extensions) and "torch" not in package:
        return None
    if not package and not re.search(r"\btorch", s.evidence.text):
        return None
    version = f" {shown.get('version')}" if shown.get("version") else ""
    headline = f"{package or 'torch'}{version} has no file for {python_of(s.evidence)}"
    return Finding(
        code="python-unsupported",
        headline=headline,
        certainty="high",
        evidence=tuple(quoted([shown])),
        fixes=(
            Fix(
                text="use a Python that it has a file for, or a newer release",
                commands=(f"envsolve plan {package or 'torch'}",),
            ),
        ),
    )
