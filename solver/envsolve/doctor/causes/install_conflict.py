"""A resolver's "impossible": files missing from the index, or pins that exclude each other."""

from __future__ import annotations

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.causes.install_conda import conda_conflict
from envsolve.doctor.causes.install_index import TORCH_INDEX
from envsolve.doctor.failed import RELATED, failed, only_index
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import public
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_CONFLICTS = ("conflict", "uv-no-solution", "no-dist-for", "conda-unsatisfiable", "poetry-because", "conda-no-cuda")
_PINS_TORCH = regex(
    r"(torchvision|torchaudio|torchtext|xformers|triton)[ =(]+v?(\d[\w.+]*)[^\n]*?(?:depends on|requires) "
    r"(torch(?: \([^)\n]*\)|[ <>=!~][^\s;,]*))"
)

_ASKED_LIBRARY = regex(r"The user requested (nvidia-[\w-]+)==(\d[\w.]*)")
_TORCHS_LIBRARY = regex(r"\btorch (\d[\w.+]*) depends on (nvidia-[\w-]+)==(\d[\w.]*)")


def conflict(s: Situation) -> Finding | None:
    """What the resolver could not bring together."""
    if not s.evidence.has(*_CONFLICTS):
        return None
    return _missing_dependency(s) or _pins(s) or _library_pin(s) or conda_conflict(s)


def _missing_dependency(s: Situation) -> Finding | None:
    """torch is there, a package that it requires is not."""
    listed = s.evidence.first("no-dist-for")
    names = listed.get("packages").split() if listed else []
    only_torch = bool(TORCH_INDEX.search(only_index(s.evidence)))
    names += [f.name for f in failed(s.evidence)]
    gone = [n for n in dict.fromkeys(names) if n.startswith("nvidia-") or (n not in RELATED and only_torch)]
    if not gone:
        return None
    text = "let the default Python index serve those: give the PyTorch index beside it, not in place of it"
    way = fix(text, f"pip install torch==VERSION --extra-index-url {PYTORCH_INDEX}/VARIANT")
    headline = f"torch itself is there; what it requires is missing on the given index: {', '.join(gone)}"
    shown = s.evidence.all("conflict-line", "no-dist-for")[:2]
    return finding(s, "index-problem", headline, shown=shown, fixes=[way])


def _library_pin(s: Situation) -> Finding | None:
    """A CUDA library that is asked for at another version than torch's own."""
    lines = s.evidence.all("conflict-line")
    asked = list(_ASKED_LIBRARY.finditer(s.evidence.text))
    wants = [m for line in lines if (m := _TORCHS_LIBRARY.search(line.text))]
    found = next(((a, w) for a in asked for w in wants if a[1] == w[2]), None)
    if found is None:
        return None
    a, w = found
    way = fix("leave the pin out: torch brings the libraries that it was built with", f"pip install torch=={w[1]}")
    headline = f"torch {w[1]} requires {w[2]}=={w[3]}, and {a[1]}=={a[2]} is asked for"
    return finding(s, "companion-mismatch", headline, shown=lines[:4], fixes=[way])


def _pins(s: Situation) -> Finding | None:
    """A companion or another package that pins another torch than the one that is asked for."""
    lines = s.evidence.all("conflict-line", "poetry-because", "uv-none", "dependency-warning")
    match = next((m for line in lines if (m := _PINS_TORCH.search(line.text))), None)
    if match is None:
        return None
    name, version, wanted = match.groups()
    number = public(version)
    torch = s.torch_for(name, number) if number else None
    belongs = f"{name} {version} belongs to torch {torch}: " if torch else ""
    way = fix(f"{belongs}change one of the two pins", "envsolve plan torch torchvision torchaudio")
    headline = f"{name} {version} requires {wanted}, which is not the torch that is asked for"
    return finding(s, "companion-mismatch", headline, shown=lines[:4], fixes=[way])
