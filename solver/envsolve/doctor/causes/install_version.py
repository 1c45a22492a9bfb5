"""Installs that fail for the version: a name, number or label that does not exist, here or anywhere."""

from __future__ import annotations

import re

from packaging.version import Version

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.causes.install_conda import conda_package
from envsolve.doctor.causes.install_python import ask_python, unserved_python
from envsolve.doctor.failed import FAMILY, RELATED, Failed, failed, index_urls, index_variant, odd_indexes, only_index
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import other_build
from envsolve.doctor.offers import builds_for, offer_tells_python, python_is_extreme, python_serves
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import python_of
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex
from envsolve.rulebook.tables import Build

_PYTHON_2 = regex(r"^Python 2\.\d|\bPython 2\.7\b|[/\\]python2\.7[/\\]|\bcp27\b", re.MULTILINE)
_PYPY = regex(r"\bPyPy\b|\bpypy3|\bpp3\d{1,2}-")
_PLAN_ALL = "envsolve plan torch torchvision torchaudio"


def unmet_version(s: Situation) -> Finding | None:
    """The requirement of torch or a companion that no index could meet: which part of it is the guilty one."""
    bad_name = s.evidence.first("pytorch-name")
    if bad_name:
        way = fix("install torch", "envsolve install --name NAME torch torchvision torchaudio")
        return finding(s, "no-wheel", 'the package is called "torch", not "pytorch"', shown=[bad_name], fixes=[way])
    found = (_judge(s, unmet) for unmet in failed(s.evidence) if unmet.name in RELATED)
    return next((finding_ for finding_ in found if finding_ is not None), None)


def _judge(s: Situation, unmet: Failed) -> Finding | None:
    if unmet.symptom.name == "conda-not-found":
        return conda_package(s, unmet)
    if unmet.symptom.name == "uv-abi":
        return unserved_python(s, unmet, [])
    if unmet.name == "torch":
        return _mac_label(s, unmet) or _torch(s, unmet)
    if unmet.name in FAMILY:
        return _mac_label(s, unmet) or _companion(s, unmet)
    if unmet.name == "triton":
        return _triton(s, unmet)
    return _no_wheel(s, unmet, f"there is no {unmet.shown}", fix("drop it: torch needs no such package"))


def _mac_label(s: Situation, unmet: Failed) -> Finding | None:
    """A label on macOS, whose files carry none."""
    if not unmet.label or s.machine.os != "macos" or "os" not in s.evidence.host.known:
        return None
    way = fix("ask for the version without its label there (a marker on sys_platform does it)")
    return _no_wheel(s, unmet, f"the files for macOS carry no label: there is no {unmet.shown} for it", way)


def _torch(s: Situation, unmet: Failed) -> Finding | None:
    """Release, label, platform, then Python: the first that cannot hold; None leaves the index as the cause."""
    version = unmet.version
    if version is not None and version not in s.rulebook.releases and _in_known_range(s, version):
        return _no_wheel(s, unmet, f"there is no torch {version}", _nearest(s, version))
    if unmet.label and not unmet.variant:
        return _no_wheel(s, unmet, f"the label +{unmet.label} is none of the index's", _labels(s, version))
    variant = unmet.variant or index_variant(only_index(s.evidence))
    builds = builds_for(s, version, unmet)
    asked = [b for b in builds if not variant or b.variant == variant]
    if variant and not asked and (version is not None or builds):
        return _no_variant(s, unmet, version, variant)
    if not python_serves(s, asked) or offer_tells_python(s, unmet, asked):
        return unserved_python(s, unmet, asked)
    return _index_not_given(s, unmet) or _nothing_offered(s, unmet, asked)


def _index_not_given(s: Situation, unmet: Failed) -> Finding | None:
    """A label, and no index that has labels."""
    given = any(index_variant(u) == unmet.variant or "torch_stable" in u for u in index_urls(s.evidence))
    if not unmet.label or given:
        return None
    way = fix("give its index", f"pip install {unmet.text} --index-url {PYTORCH_INDEX}/{unmet.variant}")
    headline = f"{unmet.shown} is only on the PyTorch index, which was not given"
    return finding(s, "index-problem", headline, shown=[unmet.symptom], fixes=[way])


def _nothing_offered(s: Situation, unmet: Failed, asked: list[Build]) -> Finding | None:
    """ "from versions: none": most often a very new Python; where it is not known it has to be asked for.

    The placeholders of before the first release come to the same.
    """
    offered = unmet.offered
    if offered is None or (offered and offered[-1] >= s.rulebook.torch_versions[0]):
        return None
    if _PYPY.search(s.evidence.text):
        way = fix("use CPython: torch has no wheels for another Python", "python --version")
        return finding(s, "python-unsupported", "torch has no wheels for PyPy", shown=[unmet.symptom], fixes=[way])
    if _PYTHON_2.search(s.evidence.text):
        return unserved_python(s, unmet, [])
    if odd_indexes(s.evidence):
        return None
    if s.machine.python is None:
        return ask_python(s, unmet)
    if asked and python_serves(s, asked) and python_is_extreme(s):
        return _old_pip(s, unmet)
    return unserved_python(s, unmet, asked) if python_is_extreme(s) else None


def _old_pip(s: Situation, unmet: Failed) -> Finding:
    """Nothing is offered to a Python that has files: its pip is too old for their tags, or for the index."""
    headline = f"{unmet.shown} has files for {python_of(s.evidence)}, and this pip finds none"
    ways = [
        fix("take a newer pip: an old one reads neither the tags of newer files nor today's index",
            "python -m pip install --upgrade pip"),
        fix("or use a newer Python", f"envsolve plan {unmet.name}"),
    ]  # fmt: skip
    return finding(s, "python-unsupported", headline, shown=[unmet.symptom], fixes=ways, certainty="medium")


def _in_known_range(s: Situation, version: Version) -> bool:
    return s.rulebook.torch_versions[0] <= version and not version.is_prerelease


def _no_variant(s: Situation, unmet: Failed, version: Version | None, variant: str) -> Finding:
    """The release has no such variant, nowhere or not on this platform; or the variant ended before it."""
    here = s.machine.platform.replace("_", " ", 1)
    if version is None:
        held = [b.torch for b in s.rulebook.builds_on(s.machine.platform) if b.variant == variant]
        headline = f"there is no {variant} index for {here}"
        if held:
            headline = f"the {variant} index ends with torch {max(held)}, {unmet.text} is not on it"
        return _no_wheel(s, unmet, headline, *other_build(s, why="which this driver serves"))
    elsewhere = any(s.rulebook.build(version, variant, p) for p in s.rulebook.platforms)
    reasons = [n.reason for n in s.rulebook.not_published if n.variant == variant and n.torch.contains(version)]
    why = f": {reasons[0]}" if reasons else ""
    headline = f"torch {version} has no {variant} build {f'for {here}' if elsewhere else 'at all'}{why}"
    return _no_wheel(s, unmet, headline, _labels(s, version))


def _labels(s: Situation, version: Version | None) -> Fix:
    builds = s.rulebook.builds_on(s.machine.platform)
    names = list(dict.fromkeys(b.variant for b in builds if b.torch == version))[-6:]
    if not names:
        return fix("let the planner choose", "envsolve plan torch")
    text = f"torch {version} comes as {', '.join(names)}: take one that the driver and the GPU allow"
    return fix(text, f"envsolve plan torch=={version}")


def _nearest(s: Situation, version: Version) -> Fix:
    older = [v for v in s.rulebook.torch_versions if v < version][-1:]
    newer = [v for v in s.rulebook.torch_versions if v > version][:1]
    near = [*older, *newer]
    return fix(f"the releases next to it are {' or '.join(map(str, near))}", f"envsolve plan torch=={near[0]}")


def _companion(s: Situation, unmet: Failed) -> Finding | None:
    """A torchvision or torchaudio that does not exist, or not for this label or Python."""
    version, rulebook = unmet.version, s.rulebook
    known = rulebook.companion_versions(unmet.name)
    paired = s.torch_for(unmet.name, version) if version else None
    if version and known and version not in known and paired is None and known[0] <= version:
        way = fix("take the one that belongs to your torch", _PLAN_ALL)
        return _no_wheel(s, unmet, f"there is no {unmet.name} {version}", way)
    listed = version is not None and rulebook.companion_listing_complete(unmet.name, version)
    platform = s.machine.platform
    if (
        version
        and unmet.variant
        and listed
        and not rulebook.companion_builds(unmet.name, version, unmet.variant, platform)
    ):
        headline = f"{unmet.name} {version} has no {unmet.variant} build for {platform.replace('_', ' ', 1)}"
        return _no_wheel(s, unmet, headline, _labels(s, paired))
    return _companion_python(s, unmet, paired)


def _companion_python(s: Situation, unmet: Failed, torch: Version | None) -> Finding | None:
    """Judged by the Pythons of the torch that it belongs to."""
    builds = [b for b in s.rulebook.builds_on(s.machine.platform) if torch is None or b.torch == torch]
    asked = [b for b in builds if not unmet.variant or b.variant == unmet.variant]
    below = bool(unmet.offered and unmet.version and unmet.version < unmet.offered[0])
    if not python_serves(s, asked) or below or (unmet.offered == () and python_is_extreme(s)):
        return unserved_python(s, unmet, asked if torch else [])
    if unmet.offered == () and s.machine.python is None and not unmet.label:
        return ask_python(s, unmet)
    return None


def _triton(s: Situation, unmet: Failed) -> Finding | None:
    if s.machine.os == "linux" and "os" in s.evidence.host.known:
        return None
    where = {"windows": "Windows", "macos": "macOS", "linux": "this system"}[s.machine.os]
    text = (
        "leave it out: torch requires it on Linux only (a marker sys_platform == 'linux' does it); on Windows the "
        "package is triton-windows"
    )
    return _no_wheel(s, unmet, f"triton has no wheels for {where}", fix(text))


def _no_wheel(s: Situation, unmet: Failed, headline: str, *ways: Fix) -> Finding:
    return finding(s, "no-wheel", headline, shown=[unmet.symptom], fixes=ways)
