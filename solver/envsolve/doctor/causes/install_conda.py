"""conda: a package that its channels do not have, a solver that sees no CUDA, pins that exclude each other."""

from __future__ import annotations

import re

from envsolve.doctor.failed import Failed
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.dotted import Dotted
from envsolve.regex import regex

_PLAN_ALL = "envsolve plan torch torchvision torchaudio"
_TOOLKIT = regex(r"cudatoolkit|cuda-toolkit|pytorch-cuda|cuda-version")
_OWN_PYTHON = regex(r"existing python installation|Your python: python")
_NEEDS_CUDA = regex(r"__cuda(?:\[version='| )\s?>=?\s?(\d+\.\d+)")
_HAS_CUDA = regex(r"__cuda-(\d+\.\d+)-|__cuda==?(\d+\.\d+)=")
_PYTHON_ITEM = regex(r"- python(?:_abi)?[ =\[]")


def conda_package(s: Situation, unmet: Failed) -> Finding:
    """Why conda has no such package: a wrong name, a number outside its range, an ended channel, another system."""
    if unmet.name == "torch":
        way = fix("install pytorch from conda-forge, or torch with pip", "conda install -c conda-forge pytorch")
        return _finding(s, unmet, "no-wheel", "conda's package is called pytorch, not torch", way)
    if unmet.name == "pytorch-cuda":
        return _pytorch_cuda(s, unmet)
    if unmet.name == "cudatoolkit" and s.machine.os == "macos":
        return _finding(
            s, unmet, "no-wheel", "cudatoolkit has no build for macOS, which has no CUDA", fix("leave it out")
        )
    held, number = s.facts.conda_range(unmet.name), _number(unmet)
    if held and held.last and number and number > held.last:
        way = fix("take it from conda-forge or with pip", f"envsolve plan torch=={unmet.version}")
        return _finding(s, unmet, "index-problem", f"the conda channel {held.channel} ended with {held.last}", way)
    headline = f"the given channels have no {unmet.text.strip()} for this platform"
    return _finding(s, unmet, "no-wheel", headline, fix("take a version that is there", _PLAN_ALL))


def _pytorch_cuda(s: Situation, unmet: Failed) -> Finding:
    held, number = s.facts.conda_range(unmet.name), _number(unmet)
    if s.machine.os == "macos":
        return _finding(s, unmet, "no-wheel", "there is no CUDA on macOS, nor a pytorch-cuda", fix("leave it out"))
    if held is None or held.first is None or held.last is None:
        return _finding(s, unmet, "no-wheel", f"there is no {unmet.text}", fix("take pip", _PLAN_ALL))
    if number and held.first <= number <= held.last:
        return _on_both_channels(s, unmet)
    text = "older CUDA: cudatoolkit with the pytorch of its time; newer: pip, since the channel has ended"
    headline = f"there is no {unmet.text.strip()}: pytorch-cuda exists from {held.first} to {held.last}"
    return _finding(s, unmet, "no-wheel", headline, fix(text, _PLAN_ALL))


def _on_both_channels(s: Situation, unmet: Failed) -> Finding:
    """A pytorch-cuda that exists: one of its channels was not given, or this conda does not see what is there."""
    text = unmet.text.strip()
    if s.machine.arch != "x86_64" and "arch" in s.evidence.host.known:
        headline = f"pytorch-cuda has builds for x86-64 alone, none for {s.machine.arch}"
        return _finding(s, unmet, "no-wheel", headline, fix("take the packages from pip", _PLAN_ALL))
    if all(re.search(rf"(?:-c|--channel)[ =]{channel}\b", s.evidence.text) for channel in ("pytorch", "nvidia")):
        headline = f"{text} is on the channels pytorch and nvidia, and this conda does not see it there"
        look = fix(
            "drop its old lists; see whether a mirror, a channel priority or another platform stands in between",
            "conda clean --index-cache",
            "conda config --show channel_alias channel_priority subdir custom_channels",
        )
        pip = fix("or take the packages from pip: the channel has ended", _PLAN_ALL)
        shown = [unmet.symptom]
        return finding(s, "index-problem", headline, shown=shown, fixes=[look, pip], certainty="medium")
    headline = f"{text} is on the channels pytorch and nvidia, which were not both given"
    return _finding(s, unmet, "index-problem", headline, fix("give both channels, or use pip", _PLAN_ALL))


def _number(unmet: Failed) -> Dotted | None:
    return Dotted.parse(unmet.version.base_version.split("!")[-1]) if unmet.version else None


def _finding(s: Situation, unmet: Failed, code: str, headline: str, way: Fix) -> Finding:
    return finding(s, code, headline, shown=[unmet.symptom], fixes=[way])


def _driver_too_old(s: Situation) -> Finding | None:
    """conda's __cuda is the CUDA that the driver speaks: a build that asks for more cannot come in."""
    need, have = _NEEDS_CUDA.search(s.evidence.text), _HAS_CUDA.search(s.evidence.text)
    asked = Dotted.parse(need[1]) if need else None
    speaks = Dotted.parse(have[1] or have[2]) if have else s.driver.cuda
    if asked is None or speaks is None or speaks >= asked:
        return None
    headline = f"the driver speaks CUDA {speaks}, the build that conda is asked for needs {asked} or newer"
    way = fix("update the NVIDIA driver, or take a build for an older CUDA", _PLAN_ALL)
    shown = s.evidence.all("conda-no-cuda", "conda-unsatisfiable")[:2]
    return finding(s, "driver-too-old", headline, shown=shown, fixes=[way])


def conda_conflict(s: Situation) -> Finding | None:
    """conda's solver: no CUDA seen, a toolkit pin against a build, a wrong Python."""
    e = s.evidence
    if old := _driver_too_old(s):
        return old
    blind = e.first("conda-no-cuda")
    if blind:
        cuda = s.driver.cuda or "VERSION"
        command = f"CONDA_OVERRIDE_CUDA={cuda} conda install -c conda-forge pytorch"
        way = fix("tell it the CUDA that the target's driver speaks", command)
        headline = "conda's solver sees no CUDA driver on this machine and so refuses the CUDA build"
        return finding(s, "index-problem", headline, shown=[blind], fixes=[way])
    shown = e.first("conda-unsatisfiable")
    if shown is None or not re.search(r"pytorch|torch", e.text):
        return None
    by_python = _PYTHON_ITEM.search(e.text) or _OWN_PYTHON.search(e.text)
    if _TOOLKIT.search(e.text) and not by_python:
        headline = "the pinned CUDA toolkit and the pytorch build ask for different CUDA lines"
        way = fix("drop the toolkit pin: the build brings its own CUDA", _PLAN_ALL)
        return finding(s, "variant-mismatch", headline, shown=[shown], fixes=[way], certainty="medium")
    if re.search(r"python[ =\[>_]", e.text):
        headline = "that pytorch has no build for the Python of this environment"
        way = fix("make an environment with an older Python, or take a newer pytorch", "envsolve plan torch")
        return finding(s, "python-unsupported", headline, shown=[shown], fixes=[way], certainty="medium")
    return None
