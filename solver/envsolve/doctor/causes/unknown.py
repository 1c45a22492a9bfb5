"""Unknown: what decides is not known, and is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.doctor.evidence import NO_ANSWER
from envsolve.doctor.finding import Finding
from envsolve.doctor.fixes import ASK_DRIVER, ASK_ERROR, ASK_GPU, ASK_MASK, ASK_TORCH
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import shortened
from envsolve.doctor.write import finding
from envsolve.resolve.plan import Missing

_SHOWN = ("no-gpus", "cuda-unavailable", "error-line", "no-driver")
_IN_WSL = Missing(
    field="gpu",
    how="/usr/lib/wsl/lib/nvidia-smi, or nvidia-smi.exe: the command is there, only not on this PATH",
)
_BY_NAME = Missing(
    field="gpu",
    how="nvidia-smi --query-gpu=name --format=csv,noheader: this old one knows no compute_cap, the name tells it",
)
_ASK_PROGRAM = Missing(
    field="error", how="what your program prints where it fails, in a file: envsolve doctor --report FILE"
)
_ASK_IMPORT = Missing(
    field="error", how='no rule knows this message; the whole of it: python -X faulthandler -c "import torch"'
)
_PYTHON = Missing(
    field="python",
    how='python -c "import sys; print(sys.executable)"; python -m pip show torch (pip and python can belong to two '
    "environments)",
)
_ASK_LONGER = Missing(
    field="error", how="where it waits (a network file system, a lock, a GPU that hangs): envsolve doctor --timeout 600"
)
_INTEL = Missing(field="gpu", how="clinfo -l (on Windows: the graphics card and its driver in the Device Manager)")
_GFX = Missing(field="gpu", how="rocminfo | grep -m1 gfx")
_INSTALL = Missing(field="torch", how="install it: envsolve install --name NAME torch torchvision torchaudio")


def unknown(s: Situation) -> Finding:
    """The question that would settle it."""
    if s.evidence.live and not s.torch.known:
        headline = "torch is not installed in this environment"
        return finding(s, "unknown", headline, certainty="high", missing=[_INSTALL])
    if s.evidence.has("no-torch") and not s.evidence.has(*_SHOWN[:2]):
        headline = (
            "the Python that runs the program has no torch: which one is it, and into which did the installer put it?"
        )
        return finding(
            s, "unknown", headline, shown=s.evidence.all("no-torch")[:1], certainty="medium", missing=[_PYTHON]
        )
    missing = list(_missing(s)) or [_error(s)]
    fields = " and ".join(dict.fromkeys(m.field for m in missing))
    return finding(
        s,
        "unknown",
        f"more must be known to say what is wrong: {fields}",
        shown=s.evidence.all(*_SHOWN)[:2],
        more=[*_last_words(s), *(problem.text for problem in s.machine.problems)],
        certainty="low",
        missing=missing,
    )


def _last_words(s: Situation) -> list[str]:
    """The last line that a live import printed, where it did not come to its end."""
    lines = s.evidence.text.strip().splitlines()
    return [shortened(lines[-1].strip())] if s.evidence.live and s.evidence.torch.available is None and lines else []


def _missing(s: Situation) -> Iterator[Missing]:
    e = s.evidence
    if not s.torch.known or (s.torch.variant == "" and not s.torch.vendor):
        yield ASK_TORCH
    if s.machine.os == "macos" and "os" in e.host.known:
        return
    if s.machine.vendor == "intel" or s.torch.accelerator == "xpu":
        yield _INTEL
        return
    if s.machine.vendor == "amd" or s.torch.accelerator == "rocm":
        if not any(gpu.gfx for gpu in s.machine.gpus):
            yield _GFX
        return
    if not any(g.compute_capability for g in s.machine.gpus) and not e.host.gpu_absent:
        yield _gpu(s)
    if not s.driver.known and not e.host.gpu_absent:
        yield ASK_DRIVER
    if not e.live and (e.has("no-gpus", "cuda-unavailable") or e.torch.available is False):
        yield ASK_MASK


def _error(s: Situation) -> Missing:
    """Of a live environment the import was seen, and its variables are known: only the program itself is not."""
    if not s.evidence.live:
        return ASK_ERROR
    if s.evidence.text.startswith(NO_ANSWER):
        return _ASK_LONGER
    return _ASK_PROGRAM if s.evidence.torch.available is not None else _ASK_IMPORT


def _gpu(s: Situation) -> Missing:
    """In WSL nvidia-smi lies beside the path; an old one knows no capability; else the usual question."""
    if s.machine.wsl:
        return _IN_WSL
    return _BY_NAME if 'Field "compute_cap" is not a valid' in s.evidence.text else ASK_GPU
