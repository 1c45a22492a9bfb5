"""Installs that fail for the Python: that release, or that file, is for another one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envsolve.doctor.failed import RELATED, Failed
from envsolve.doctor.finding import Finding
from envsolve.doctor.fixes import ASK_PYTHON
from envsolve.doctor.offers import python_by_offer
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import python_of
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex
from envsolve.rulebook.tables import Build, Certainty

_PYTHON_TAG = regex(r"-cp3(\d{1,2})-")
_TAG = regex(r"cp3(\d{1,2})t?")
_SYSTEMS = (
    ("win_", "windows", "Windows"),
    ("win32", "windows", "Windows"),
    ("linux", "linux", "Linux"),
    ("macosx", "macos", "macOS"),
)


def unserved_python(s: Situation, unmet: Failed, asked: Sequence[Build]) -> Finding:
    """That release has no file for this Python; `asked` are its builds, for the range that it has."""
    spans = [build.python for build in asked]
    span = f" (it has {min(a for a, _ in spans)} to {max(z for _, z in spans)})" if spans else ""
    guessed = python_by_offer(s, unmet)
    tagged = _TAG.fullmatch(unmet.symptom.get("tag"))
    who = f"Python 3.{tagged[1]}" if tagged else f"Python {guessed}" if guessed else python_of(s.evidence)
    told = (
        f"the lowest version offered is {unmet.offered[0]}: that is Python {guessed}"
        if guessed and unmet.offered
        else ""
    )
    last = max((z for _, z in spans), default=None)
    use = f"use Python {last}" if last else "use a Python that it has a file for"
    pin = f"=={unmet.version}" if unmet.version else ""
    command = f"envsolve plan {unmet.name}{pin}{f' --python {last}' if last else ''}"
    ways = [fix(f"{use}, or a newer release of {unmet.name}", command)]
    if tagged and "when resolving dependencies for split" in s.evidence.text:
        text = "or leave that Python out of the project: uv resolves for all that pyproject.toml allows"
        from_ = f">={min(a for a, _ in spans)}," if spans else ""
        ways.append(fix(text, f'requires-python = "{from_}<3.{tagged[1]}"'))
    known = bool(s.machine.python or guessed or tagged)
    return finding(
        s,
        "python-unsupported",
        f"{unmet.shown} has no file for {who}{span}",
        shown=[unmet.symptom],
        more=[told] if told else [],
        fixes=ways,
        certainty="high" if known else "medium",
        missing=() if known else (ASK_PYTHON,),
    )


def ask_python(s: Situation, unmet: Failed) -> Finding:
    """Nothing is offered, and which Python asks is not known."""
    headline = f"the index has no {unmet.shown} for this Python, which is not known"
    return finding(s, "unknown", headline, shown=[unmet.symptom], certainty="low", missing=[ASK_PYTHON])


def wrong_tag(s: Situation) -> Finding | None:
    """A wheel file that pip refuses: its Python, its system, or its processor is another one."""
    shown = s.evidence.first("pip-wrong-tag")
    if shown is None:
        return None
    file = shown.get("file").replace("%2B", "+")
    tag = _PYTHON_TAG.search(file)
    python = (s.machine.python or "").rstrip("t")
    other = _other_system(s, file)
    if other and not (tag and python and f"3.{tag[1]}" != python):
        way = fix("take the file for this system and processor, or let pip choose by version")
        return finding(s, "no-wheel", f"{file} is for {other}, which this machine is not", shown=[shown], fixes=[way])
    want = f"Python 3.{tag[1]}" if tag else "another Python"
    have = f", this is {python_of(s.evidence)}" if python else ""
    way = fix(f"use {want}, or the file of the same release for this Python")
    sure: Certainty = "high" if python else "medium"
    return finding(s, "python-unsupported", f"{file} is for {want}{have}", shown=[shown], fixes=[way], certainty=sure)


def _other_system(s: Situation, file: str) -> str:
    """The system or processor of a file where it is not this machine's; "" where it is, or may be."""
    known = s.evidence.host.known
    for mark, os, name in _SYSTEMS:
        if mark in file and "os" in known and s.machine.os != os:
            return name
    arm = "aarch64" in file or "arm64" in file
    if "arch" in known and arm != (s.machine.arch != "x86_64"):
        return "64-bit Arm" if arm else "x86_64"
    return ""


def required_python(s: Situation) -> Finding | None:
    """A resolver or a build says in plain words that the Python is the wrong one."""
    shown = s.evidence.first("uv-hint-python", "requires-python", "uv-abi")
    failing = s.evidence.has("pip-none", "pip-no-match", "uv-no-solution", "conflict", "error-line")
    if shown is None or (shown.name == "requires-python" and not failing):
        return None
    package = shown.get("package") or shown.get("package2")
    ours = package in (*RELATED, *s.facts.extensions) or "torch" in package
    if (package and not ours) or (not package and not re.search(r"\btorch", s.evidence.text)):
        return None
    what = " ".join(filter(None, [package or "torch", shown.get("version")]))
    way = fix("use a Python that it has a file for, or a newer release", f"envsolve plan {package or 'torch'}")
    return finding(
        s, "python-unsupported", f"{what} has no file for {python_of(s.evidence)}", shown=[shown], fixes=[way]
    )
