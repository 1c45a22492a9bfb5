"""Shadows: another torch is imported than the one that is installed in the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.evidence import Installed, Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.report_frames import module_of, site_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.judge.kernels import best_cubin
from envsolve.regex import regex

# Names that every torch has: what lacks them is a folder of that name, or what an uninstall left behind.
_ALWAYS_THERE = frozenset({
    "cuda", "nn", "Tensor", "tensor", "zeros", "ones", "rand", "randn", "load", "save", "float32", "device", "utils",
    "version", "__version__", "no_grad", "from_numpy", "autograd", "optim", "manual_seed",
})  # fmt: skip
# conda's base is active and its pip asked, while another environment's Python runs: two environments, not one shadowed.
_BASES_PIP = regex(
    r"^\(base\)[^\n]*[>$%#] pip3? (?:show|list|freeze)\b.*?^\(base\)[^\n]*[>$%#] \S*?[\\/](?:Scripts|bin)[\\/]python",
    re.MULTILINE | re.DOTALL,
)
_USER_SITE = regex(r"\.local[/\\]lib|AppData[/\\]Roaming[/\\]Python|[/\\]Library[/\\]Python[/\\]")
_LOCAL_FILE = regex(r"[^\s'\"]*[/\\]torch\.py\b")
_BARE_FILE = regex(r"(?<![\w./\\-])torch\.py\b")
_HALF = regex(
    r"partially initialized module 'torch' has no attribute '(?:Tensor|tensor|cuda|nn|__version__|zeros|ones)'"
)
_BLAMED = regex(r"\(([^()\s]*torch(?:\.py|/__init__\.py)?)\)")
_PACKAGE = regex(r"[/\\]torch[/\\]__init__\.py$")
_SITE = regex(r"(?:site|dist)-packages")
_INTERPRETER = regex(
    r"^\s*([~/]\S+/(?:envs/|\.?v?env\w*)\S*)/bin/python[\d.]*\s*$|packages in environment at ([^:\n]*(?::\\[^:\n]*)?):",
    re.MULTILINE,
)
_ASK = 'python -c "import torch; print(torch.__version__, torch.__file__)"'


def stray(s: Situation) -> Finding | None:
    """A file in the working folder of a live environment that programs started there take for a package."""
    name, file = next(iter(s.evidence.strays.items()), ("", ""))
    if not file:
        return None
    check = _ASK.replace("torch", name)
    return finding(
        s,
        "shadowed-torch",
        f"{file} is imported in place of the installed {name} by whatever is started in that folder",
        more=[f"{name}: {other}" for name, other in s.evidence.strays.items()],
        fixes=[fix("rename it, or start the program from another folder", check)],
        fine=["what is installed may be right"],
        elsewhere=True,
    )


def shadowed(s: Situation) -> Finding | None:
    """Another torch than the environment's own."""
    return _local_name(s) or _elsewhere(s) or _two_versions(s) or _another_arch_list(s)


def _another_arch_list(s: Situation) -> Finding | None:
    """An installer put a build there whose code the rules know, and the torch that runs tells of other code."""
    warned, version = s.evidence.first("not-compatible"), s.torch.version
    came = [row for row in s.evidence.history if row.name == "torch"]
    sources = {row.source for row in came}
    if not (s.evidence.torch.targets and warned and version) or "installer" not in sources:
        return None
    if not sources <= {"installer", "said"}:
        return None  # the torch that runs told its version itself
    capabilities = [gpu.compute_capability for gpu in s.machine.gpus if gpu.compute_capability]
    tegra = s.rulebook.tegra_capabilities
    builds = [b for b in s.rulebook.builds_on(s.machine.platform) if (b.torch, b.variant) == (version, s.torch.variant)]
    if not capabilities or not any(all(best_cubin(b, c, tegra) for c in capabilities) for b in builds):
        return None
    headline = (
        f"{s.torch.shown} was installed and has code for this GPU; the torch that runs has none: it is another one"
    )
    return finding(s, "shadowed-torch", headline, shown=[warned], fixes=_fixes(user=False, by_path=_by_path(s)))


def _local_name(s: Situation) -> Finding | None:
    """A file or folder named torch lies in the way."""
    shown = s.evidence.first("torch-not-itself") or s.evidence.first("torch-part")
    if shown is None:
        return None
    if folder := _checkout(s):
        return _in_the_way(s, shown, f"the folder {folder}")
    if shown.name != "torch-not-itself":
        return None
    file = next((m[0] for m in _LOCAL_FILE.finditer(s.evidence.text) if not _SITE.search(m[0])), "")
    file = file or ("torch.py" if _BARE_FILE.search(s.evidence.text) else "")
    blamed = _BLAMED.search(shown.text)
    if not file and blamed and not _SITE.search(blamed[1]):
        file = blamed[1]
    hollow = s.evidence.torch.available is None and any(
        x.get("name") in _ALWAYS_THERE or "_NamespacePath" in x.text or _HALF.search(x.text)
        for x in s.evidence.all(shown.name)
    )
    checkout = "torch._C" in shown.text or "C extensions" in shown.text
    if not file and not hollow and (not checkout or s.evidence.has("dll-failed")):
        return None
    return _in_the_way(s, shown, f"the file {file}" if file else "a folder named torch (a source checkout?)")


def _checkout(s: Situation) -> str:
    """The folder of a torch package outside site-packages that a traceback went through."""
    frames = (f.path for f in s.evidence.frames if _PACKAGE.search(f.path) and not _SITE.search(f.path))
    return next((path[: -len("/__init__.py")] for path in frames), "")


def _in_the_way(s: Situation, shown: Symptom, what: str) -> Finding:
    return finding(
        s,
        "shadowed-torch",
        f"{what} is imported in place of the installed torch",
        shown=[shown],
        fixes=[fix("rename it, or run from another folder", _ASK)],
        elsewhere=True,
    )


def _elsewhere(s: Situation) -> Finding | None:
    """The imported torch lies in another site-packages than the environment's own."""
    imported = _imported_site(s)
    own = _own_site(s) or (_prefix(s) if _USER_SITE.search(imported) else "")
    if not imported or not own or imported == own or imported.startswith(own):
        return None
    user = bool(_USER_SITE.search(imported))
    by_path = imported.rstrip("/\\") in s.evidence.environment.get("PYTHONPATH", "")
    if not (user or by_path or len({row.public for row in _rows(s)}) > 1):
        return None
    whose = "the user site" if user else "PYTHONPATH" if by_path else "another environment"
    headline = f"the imported torch comes from {whose} ({imported}), not from the environment ({own})"
    return _finding(s, headline, user=user, by_path=by_path)


def _two_versions(s: Situation) -> Finding | None:
    """pip lists one version, Python imports another, and nothing was installed in between."""
    came = [r for r in s.evidence.history if r.name == "torch" and r.source == "installer"]
    listed = [r for r in _rows(s) if r.source == "listed"] or came
    printed = [r for r in _rows(s) if r.source == "printed"]
    if not listed or not printed or not _differ(listed[-1], printed[-1]) or _BASES_PIP.search(s.evidence.text):
        return None
    low, high = sorted((listed[-1].line, printed[-1].line))
    if any(low < change.line < high for change in s.evidence.changes if change.name == "torch"):
        return None
    if listed[-1] in came and printed[-1].line < listed[-1].line:
        return None  # printed before it came
    lister = "conda" if listed[-1].name == "pytorch" else "pip"
    found = f"while {lister} lists {listed[-1].version}"
    headline = f"Python imports torch {printed[-1].version}, {found}: two are on the path"
    user = bool(_USER_SITE.search(s.evidence.torch.file or s.evidence.text))
    return _finding(s, headline, user=user, by_path=_by_path(s))


def _by_path(s: Situation) -> bool:
    """Whether PYTHONPATH leads to the imported torch; where its file is not known, whether there is a PYTHONPATH."""
    path, file = s.evidence.environment.get("PYTHONPATH", ""), s.evidence.torch.file
    entries = [entry.rstrip("/\\") for entry in re.split(r"[:;](?![/\\])|:(?=/)", path) if entry]
    return any(file.startswith(f"{entry}{sign}") for entry in entries for sign in "/\\") if file else bool(path)


def _differ(one: Installed, other: Installed) -> bool:
    labels = bool(one.label and other.label and one.label != other.label)
    return one.public != other.public or labels


def _rows(s: Situation) -> list[Installed]:
    """What was printed or listed of torch, in order; conda's name for it where no list has the other."""
    rows = [row for row in s.evidence.history if row.source in ("printed", "listed")]
    names = ("torch",) if any(r.name == "torch" and r.source == "listed" for r in rows) else ("torch", "pytorch")
    return [row for row in rows if row.name in names]


def _finding(s: Situation, headline: str, *, user: bool, by_path: bool) -> Finding:
    return finding(
        s,
        "shadowed-torch",
        headline,
        more=[f"torch {row.version} ({row.source})" for row in _rows(s)],
        fixes=_fixes(user=user, by_path=by_path),
        fine=["what the environment itself holds may be right"],
        elsewhere=by_path,
    )


def _fixes(*, user: bool, by_path: bool) -> Iterator[Fix]:
    if by_path:
        yield fix("clear PYTHONPATH for this environment", "unset PYTHONPATH")
    if user:
        text = "keep the user site out, or remove the copy in it"
        yield fix(text, "export PYTHONNOUSERSITE=1", "python -m pip uninstall torch")
    yield fix("see which file is imported", _ASK)


def _imported_site(s: Situation) -> str:
    """Where the imported torch lies: as it says itself, else by the files of the traceback."""
    if s.evidence.torch.file:
        return site_of(s.evidence.torch.file)
    sites = [site_of(f.path) for f in s.evidence.frames if module_of(f.path) in ("torch", "torchgen")]
    return sites[-1] if sites else ""


def _prefix(s: Situation) -> str:
    """The folder of an environment that is shown to hold a torch of its own."""
    if not any(row.source == "listed" for row in _rows(s)):
        return ""
    found = _INTERPRETER.search(s.evidence.text)
    return (found[1] or found[2]) if found else ""


def _own_site(s: Situation) -> str:
    """Where the environment's packages lie: by pip's word, else by the other files of the traceback."""
    rows = [row for row in s.evidence.history if row.name == "torch" and row.source not in ("file", "printed")]
    located = [site for row in rows if (site := site_of(row.location))]
    if located:
        return located[-1]
    others = [site_of(f.path) for f in s.evidence.frames if module_of(f.path) not in ("", "torch", "torchgen")]
    environment = [site for site in others if site and not _USER_SITE.search(site)]
    return environment[-1] if environment else ""
