"""Libraries below torch: NumPy 2 under an old torch, a CUDA library that wins over the wheel's own, or is missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import same_version
from envsolve.doctor.report_frames import module_of, site_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import public
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex
from envsolve.rulebook.tables import NumpyRule

_BETWEEN_NVIDIA = regex(
    r"undefined symbol: (?:_ZNK?\d+)?(?:__nvJitLink|nccl|cudnn|cublas|cusparse|cuda)\w*|version libnvJitLink"
)
_NVIDIA_LIBRARY = regex(
    r"lib(?:cudnn|cublas|cudart|nccl|cusparse|cufft|curand|cusolver|nvrtc|nvToolsExt|cupti|nvJitLink|nvshmem|cufile)"
)
_SHOWN = 4  # packages in a headline
_IMPORTS_TORCH = regex(r"(?:-c\s+['\"]|>>>\s*)import torch\s*(?:['\";]|$)", re.MULTILINE)
_NVIDIA_PACKAGE = regex(r"nvidia-(?:cudnn|nvjitlink|cusparse|cublas|nccl)(?:-cu\d+)?")


def numpy_two(s: Situation) -> Finding | None:
    """NumPy 2 under a torch that was built for NumPy 1, or under another module that was."""
    e = s.evidence
    shown = e.first("numpy-abi") or (e.first("numpy-dtype-size", "numpy-removed") if _clashes(s) else None)
    numpy = public(shown.get("numpy") or e.version("numpy")) if shown else None
    if shown is None or (numpy is not None and numpy.major < 2):
        return None
    version = s.torch.version
    if version is not None and version in s.rulebook.releases and _rule(s) is None:
        return _other_user(s, shown)
    return finding(
        s,
        "numpy-below-2",
        f"{s.torch.shown} was built for NumPy 1, NumPy {numpy or 2} is installed",
        shown=[shown],
        fixes=_numpy_fixes(s),
        certainty="high" if version is not None else "medium",
    )


def _rule(s: Situation) -> NumpyRule | None:
    version = s.torch.version
    return s.rulebook.numpy_rule(version, s.machine.platform) if version is not None else None


def numpy_one(s: Situation) -> str:
    """The requirement that keeps NumPy 1, as the rules write it: that of the installed torch, else of the oldest."""
    rule = _rule(s) or s.rulebook.numpy_rule(min(s.rulebook.torch_versions), s.machine.platform)
    return rule.requires if rule else "numpy"


def _clashes(s: Situation) -> bool:
    rule, numpy = _rule(s), public(s.evidence.version("numpy"))
    return rule is not None and numpy is not None and not SpecifierSet(rule.requires[len("numpy") :]).contains(numpy)


def _numpy_fixes(s: Situation) -> Iterator[Fix]:
    yield fix("go back to NumPy 1", f'pip install "{numpy_one(s)}"')
    free = [v for v in s.rulebook.torch_versions if s.rulebook.numpy_rule(v, s.machine.platform) is None]
    if free:
        yield fix(f"or move to torch {free[0]} or newer, which was built for NumPy 2")


def _other_user(s: Situation, shown: Symptom) -> Finding:
    modules = [module_of(f.path) for f in s.evidence.frames]
    who = next((m for m in reversed(modules) if m not in ("", "torch", "numpy")), "another module")
    return finding(
        s,
        "not-torch",
        f"{who} was built for NumPy 1 and meets NumPy 2; {s.torch.shown} itself works with NumPy 2",
        shown=[shown],
        fixes=[fix(f"take a newer {who}, or NumPy 1 until there is one", f'pip install "{numpy_one(s)}"')],
        certainty="medium",
    )


def stray_libraries(s: Situation) -> Finding | None:
    """CUDA, cuDNN or NCCL from elsewhere that win over the wheel's own."""
    e = s.evidence
    if (shown := _of_path(s)) is not None:
        return _stray(s, shown, "a library of LD_LIBRARY_PATH")
    shown = e.first("cudnn-versions", "cudnn-sub") or _between_nvidia(s) or _of_other_pin(s)
    if shown is None:
        return None
    path = e.environment.get("LD_LIBRARY_PATH", "")
    pinned = next((name for name in e.installed if _NVIDIA_PACKAGE.fullmatch(name)), "")
    if not path and pinned and e.has("dependency-warning"):
        headline = f"{pinned} {e.version(pinned)} is not the one that {s.torch.shown} requires"
        way = fix("let torch's own requirement decide: one resolution of everything that shares it")
        shown_both = [shown, e.first("dependency-warning")]
        return finding(s, "companion-mismatch", headline, shown=shown_both, fixes=[way], certainty="medium")
    return _stray(s, shown, "another CUDA library")


def _of_path(s: Situation) -> Symptom | None:
    """A message about a library in a folder of LD_LIBRARY_PATH, unless that is torch's own."""
    folders = s.evidence.environment.get("LD_LIBRARY_PATH", "").split(":")
    strange = [folder.rstrip("/") for folder in folders if folder and not site_of(folder)]
    found = s.evidence.all("no-shared-object", "load-failed", "undefined-symbol", "symbol-not-found", "error-line")
    return next((x for x in found if any(f"{folder}/lib" in x.text for folder in strange)), None)


def _stray(s: Situation, shown: Symptom, what: str) -> Finding:
    path = s.evidence.environment.get("LD_LIBRARY_PATH", "")
    where = f" (LD_LIBRARY_PATH={path})" if path else ""
    return finding(
        s,
        "variant-mismatch",
        f"{what} is loaded in place of the wheel's own{where}",
        shown=[shown],
        fixes=list(_own_again(s, path)),
        certainty="high" if path else "medium",
        fine=["a wheel brings its own CUDA, cuDNN and NCCL"],
        elsewhere=bool(path),
    )


def _own_again(s: Situation, path: str) -> Iterator[Fix]:
    """Without a library path in the report, the nvidia packages may as well be other ones than torch requires."""
    yield fix("take system CUDA and cuDNN out of LD_LIBRARY_PATH for this environment", "unset LD_LIBRARY_PATH")
    if not path and s.torch.distributor != "conda" and (version := same_version(s)):
        index = f" --index-url {PYTORCH_INDEX}/{s.torch.variant}" if "+" in s.torch.text else ""
        text = "if none is set there, another nvidia package than torch requires is installed: let torch bring its own"
        yield fix(text, f"pip install --force-reinstall torch=={version}{index}")


def _between_nvidia(s: Situation) -> Symptom | None:
    """An undefined symbol between NVIDIA's own libraries, or of NCCL in torch's."""
    found = s.evidence.all("undefined-symbol", "no-shared-object")
    return next((symptom for symptom in found if _BETWEEN_NVIDIA.search(symptom.text)), None)


def _of_other_pin(s: Situation) -> Symptom | None:
    """A library that torch misses, while pip notes that its package is not of the version that torch pins."""
    noted = any(re.search(r"\btorch \S+ requires nvidia-", x.text) for x in s.evidence.all("dependency-warning"))
    return _missing_nvidia(s) if noted else None


def _missing_nvidia(s: Situation) -> Symptom | None:
    found = s.evidence.all("no-shared-object")
    return next((x for x in found if _NVIDIA_LIBRARY.match(library_of(x))), None)


def missing_libraries(s: Situation) -> Finding | None:
    """A CUDA library that torch's own import misses: its nvidia packages were not installed with it."""
    shown = _missing_nvidia(s)
    if shown is None:
        return None
    last = [module_of(f.path) for f in s.evidence.frames if f.path.endswith(".py") and f.line <= shown.line]
    by_torch = last[-1] == "torch" if last else bool(_IMPORTS_TORCH.search(s.evidence.text))
    if not by_torch:
        return None
    what = f"({library_of(shown)} is missing)"
    text = (
        "install torch with its dependencies for this platform, in a new environment; lock again if the lock lacks them"
    )
    return finding(
        s,
        "index-problem",
        f"{s.torch.shown} was installed without the nvidia packages that its metadata requires {what}",
        shown=[shown],
        fixes=[fix(text, "envsolve install --name NAME torch")],
        certainty="medium",
        fine=["a system CUDA or cuDNN is not what is missing"],
    )


def unmet_needs(s: Situation) -> Finding | None:
    """A package that torch or a companion requires is not there, or another version of it."""
    shown = s.evidence.all("unmet-need")
    if not shown or s.torch.vendor:
        return None
    missing = [x for x in shown if not x.get("there")]
    told = missing or shown
    owner = told[0].get("of")
    wanted = [x.get("wanted") for x in told if x.get("of") == owner]
    names = ", ".join(wanted[:_SHOWN]) + (f" and {len(wanted) - _SHOWN} more" if len(wanted) > _SHOWN else "")
    works = s.evidence.torch.computed
    if missing:
        headline = f"{owner} is there without what its metadata requires: {names}"
    else:
        headline = f"{owner} requires {names}, {told[0].get('package')} {told[0].get('there')} is installed"
    return finding(
        s,
        "damaged-install" if missing else "companion-mismatch",
        headline,
        shown=told[:_SHOWN],
        fixes=[fix("install what is required", shlex.join(["pip", "install", *(x.get("wanted") for x in shown)]))],
        certainty="medium" if works else "high",
        fine=["torch computed right all the same, with what was found elsewhere"] if works else [],
    )


def library_of(shown: Symptom) -> str:
    """The library that a message names; "" where it names none."""
    names = ("library", "library2", "library3", "library4")
    return next((found for name in names if (found := shown.get(name))), "")
