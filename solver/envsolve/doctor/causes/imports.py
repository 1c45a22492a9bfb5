"""Imports: another torch than the installed one, NumPy 2 under an old torch, libraries that win over the wheel's own."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet

from envsolve.doctor.evidence import Installed, Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.report_frames import module_of, site_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import public
from envsolve.doctor.wording import facts_of, quoted

_USER_SITE = re.compile(r"\.local[/\\]lib|AppData[/\\]Roaming[/\\]Python|[/\\]Library[/\\]Python[/\\]")
_LOCAL_FILE = re.compile(r"(?<![\w-])(?!.*(?:site|dist)-packages)[^\s'\"]*[/\\]torch\.py\b")


def shadowed(s: Situation) -> Finding | None:
    """Another torch is imported than the one that is installed in the environment."""
    return _local_name(s) or _elsewhere(s) or _two_versions(s)


def _local_name(s: Situation) -> Finding | None:
    """A file or folder named torch lies in the way."""
    shown = s.evidence.first("torch-not-itself")
    if shown is None:
        return None
    file = _LOCAL_FILE.search(s.evidence.text) or re.search(r"\(([^()\s]*torch(?:\.py|/__init__\.py)?)\)", shown.text)
    checkout = "torch._C" in shown.text and not s.evidence.has("dll-failed")
    inside = file and not re.search(r"(?:site|dist)-packages", file[0])
    if not inside and not checkout:
        return None
    what = f"the file {file[0].strip('()')}" if inside and file else "a folder named torch (a source checkout?)"
    return Finding(
        code="shadowed-torch",
        headline=f"{what} is imported in place of the installed torch",
        certainty="high",
        evidence=tuple(quoted([shown])),
        fixes=(
            Fix(
                text="rename it, or run from another folder",
                commands=('python -c "import torch; print(torch.__file__)"',),
            ),
        ),
    )


def _elsewhere(s: Situation) -> Finding | None:
    """The imported torch lies in another site-packages than the environment's own."""
    imported, own = _imported_site(s), _own_site(s)
    if not imported or not own or imported == own:
        return None
    user = bool(_USER_SITE.search(imported))
    path = s.evidence.environment.get("PYTHONPATH", "")
    by_path = bool(path) and imported.rstrip("/\\") in path
    if not (user or by_path or _versions_differ(s)):
        return None
    how = "the user site" if user else "PYTHONPATH" if by_path else "another environment"
    return _shadowed(
        s, f"the imported torch comes from {how} ({imported}), not from the environment ({own})", user, by_path
    )


def _versions_differ(s: Situation) -> bool:
    return len({r.public for r in s.evidence.history if r.name == "torch" and r.source in ("printed", "listed")}) > 1


def _shadowed(s: Situation, headline: str, user: bool, by_path: bool) -> Finding:
    fixes = []
    if by_path:
        fixes.append(Fix(text="clear PYTHONPATH for this environment", commands=("unset PYTHONPATH",)))
    if user:
        fixes.append(
            Fix(
                text="keep the user site out, or remove the copy in it",
                commands=("export PYTHONNOUSERSITE=1", "python -m pip uninstall torch"),
            )
        )
    fixes.append(
        Fix(
            text="see which file is imported",
            commands=('python -c "import torch; print(torch.__version__, torch.__file__)"',),
        )
    )
    return Finding(
        code="shadowed-torch",
        headline=headline,
        certainty="high",
        evidence=tuple([*_statements(s), *facts_of(s)]),
        fixes=tuple(fixes),
        fine=("what the environment itself holds may be right",),
    )


def _statements(s: Situation) -> list[str]:
    rows = [r for r in s.evidence.history if r.name == "torch" and r.source in ("printed", "listed")]
    return list(dict.fromkeys(f"torch {r.version} ({r.source})" for r in rows))


def _imported_site(s: Situation) -> str:
    """Where the imported torch lies: as it says itself, else by the files of the traceback."""
    if s.evidence.torch.file:
        return site_of(s.evidence.torch.file)
    sites = [site_of(f.path) for f in s.evidence.frames if module_of(f.path) in ("torch", "torchgen")]
    return sites[-1] if sites else ""


def _own_site(s: Situation) -> str:
    """Where the environment's packages lie: by pip's word, else by the other files of the traceback."""
    located = [
        r.location for r in s.evidence.history if r.name == "torch" and "packages" in r.location and r.source != "file"
    ]
    if located:
        return site_of(located[-1])
    others = [site_of(f.path) for f in s.evidence.frames if module_of(f.path) not in ("", "torch", "torchgen")]
    environment = [p for p in others if p and not _USER_SITE.search(p)]
    return environment[-1] if environment else ""


def _two_versions(s: Situation) -> Finding | None:
    """pip lists one version, Python imports another, and nothing was installed in between."""
    rows = [r for r in s.evidence.history if r.name == "torch" and r.source in ("printed", "listed")]
    listed = [r for r in rows if r.source == "listed"]
    printed = [r for r in rows if r.source == "printed"]
    if not listed or not printed or not _differ(listed[-1], printed[-1]):
        return None
    low, high = sorted((listed[-1].line, printed[-1].line))
    if any(low < c.line < high for c in s.evidence.changes if c.name == "torch"):
        return None
    headline = f"Python imports torch {printed[-1].version}, while pip lists {listed[-1].version}: two are on the path"
    user = bool(_USER_SITE.search(s.evidence.torch.file or s.evidence.text))
    return _shadowed(s, headline, user, bool(s.evidence.environment.get("PYTHONPATH")))


def _differ(one: Installed, other: Installed) -> bool:
    if one.public != other.public:
        return True
    return bool(one.label and other.label and one.label != other.label)


def numpy_two(s: Situation) -> Finding | None:
    """NumPy 2 under a torch that was built for NumPy 1."""
    e = s.evidence
    shown = e.first("numpy-abi")
    numpy = public(e.version("numpy"))
    version = s.torch.version
    rule = s.rulebook.numpy_rule(version, s.machine.platform) if version is not None else None
    clash = (
        rule is not None and numpy is not None and not SpecifierSet(rule.requires.removeprefix("numpy")).contains(numpy)
    )
    if shown is None and not (clash and e.has("numpy-removed", "warning-only", "error-line")):
        return None
    if shown is None and not e.has("numpy-dtype-size", "numpy-removed"):
        return None
    if shown is not None and numpy is not None and numpy.major < 2:
        return None
    if version is not None and version in s.rulebook.releases and rule is None:
        return _other_numpy_user(s)
    return Finding(
        code="numpy-below-2",
        headline=f"{s.torch.shown} was built for NumPy 1, NumPy {numpy or 2} is installed",
        certainty="high" if version is not None else "medium",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(
            Fix(text="go back to NumPy 1", commands=('pip install "numpy<2"',)),
            Fix(text="or move to a torch that was built for NumPy 2 (2.3 and newer; on Windows 2.4.1)"),
        ),
    )


def _other_numpy_user(s: Situation) -> Finding:
    module = next(
        (m for f in reversed(s.evidence.frames) if (m := module_of(f.path)) not in ("", "torch", "numpy")), ""
    )
    who = module or "another module"
    return Finding(
        code="not-torch",
        headline=f"{who} was built for NumPy 1 and meets NumPy 2; {s.torch.shown} itself works with NumPy 2",
        certainty="medium",
        evidence=tuple([*quoted(s.evidence.all("numpy-abi")), *facts_of(s)]),
        fixes=(Fix(text=f"take a newer {who}, or NumPy 1 until there is one", commands=('pip install "numpy<2"',)),),
    )


def missing_libraries(s: Situation) -> Finding | None:
    """A CUDA library that torch's own import misses: its nvidia packages were not installed with it."""
    shown = next((x for x in s.evidence.all("no-shared-object") if _of_nvidia(x)), None)
    inside = any(module_of(f.path) == "torch" and f.path.endswith("__init__.py") for f in s.evidence.frames)
    if shown is None or not inside or not re.search(r"torch[/\\]__init__\.py|torch\._C", s.evidence.text):
        return None
    last = [module_of(f.path) for f in s.evidence.frames if f.path.endswith(".py") and f.line <= shown.line]
    if last and last[-1] != "torch":
        return None
    return Finding(
        code="index-problem",
        headline=f"{s.torch.shown} was installed without the nvidia packages that its metadata requires ({_library(shown)} is missing)",
        certainty="medium",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(
            Fix(
                text="install torch with its dependencies for this platform, in a new environment; lock again if the lock lacks them",
                commands=("envsolve install --name NAME torch",),
            ),
        ),
        fine=("a system CUDA or cuDNN is not what is missing",),
    )


def _library(shown: Symptom) -> str:
    return next((g for n in ("library", "library2", "library3", "library4") if (g := shown.get(n))), "a library")


def _of_nvidia(shown: Symptom) -> bool:
    return bool(
        re.match(
            r"lib(?:cudnn|cublas|cudart|nccl|cusparse|cufft|curand|cusolver|nvrtc|nvToolsExt|cupti|nvJitLink|nvshmem|cufile)",
            _library(shown),
        )
    )


def stray_libraries(s: Situation) -> Finding | None:
    """CUDA, cuDNN or NCCL from elsewhere that win over the wheel's own."""
    e = s.evidence
    shown = e.first("cudnn-versions", "cudnn-sub") or _nvidia_symbol(s)
    if shown is None:
        return None
    path = e.environment.get("LD_LIBRARY_PATH", "")
    from_path = "cuda" in path.lower() or "cudnn" in path.lower() or "conda" in path.lower() or bool(path)
    pinned = [n for n in e.installed if re.fullmatch(r"nvidia-(?:cudnn|nvjitlink|cusparse|cublas|nccl)(?:-cu\d+)?", n)]
    if not from_path and pinned and e.has("dependency-warning"):
        return Finding(
            code="companion-mismatch",
            headline=f"{pinned[0]} {e.version(pinned[0])} is not the one that {s.torch.shown} requires",
            certainty="medium",
            evidence=tuple([*quoted([shown, e.first("dependency-warning")]), *facts_of(s)]),
            fixes=(Fix(text="let torch's own requirement decide: one resolution of everything that shares it"),),
        )
    where = f" (LD_LIBRARY_PATH={path})" if path else ""
    return Finding(
        code="variant-mismatch",
        headline=f"another CUDA library is loaded in place of the wheel's own{where}",
        certainty="high" if path else "medium",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(
            Fix(
                text="take system CUDA and cuDNN out of LD_LIBRARY_PATH for this environment",
                commands=("unset LD_LIBRARY_PATH",),
            ),
        ),
        fine=("a wheel brings its own CUDA, cuDNN and NCCL",),
    )


def _nvidia_symbol(s: Situation):  # type: ignore[no-untyped-def]
    """An undefined symbol between NVIDIA's own libraries, or of NCCL in torch's."""
    for symptom in s.evidence.all("undefined-symbol", "no-shared-object"):
        text = symptom.text
        if re.search(
            r"nvidia[/\\]\w+[/\\]lib|nvJitLink|libnccl|ncclComm|nccl\w+|cudnn\w+|cublasLt\w+|libcusparse|libcublas|libcusolver",
            text,
        ) and re.search(
            r"undefined symbol: (?:__nvJitLink|nccl|cudnn|cublas|cusparse|cuda)\w*|version libnvJitLink", text
        ):
            return symptom
    return None
