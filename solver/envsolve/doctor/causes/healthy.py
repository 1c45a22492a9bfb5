"""Nothing is wrong: the set fits, or what is printed does no harm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.causes.kernels import false_alarm
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import gpu_words
from envsolve.doctor.write import finding
from envsolve.regex import regex

_ILL = (
    "no-kernel-image", "not-compatible", "gpu-too-old", "no-gpus", "no-driver", "driver-old", "missing-operator",
    "undefined-symbol", "load-failed", "dll-failed", "not-compiled", "error-803", "error-804", "error-999",
    "launch-failure", "out-of-memory", "library-failed", "nccl", "pip-none", "conflict", "uv-no-solution",
    "smi-no-libcuda",
)  # fmt: skip
_HARMLESS = {
    "capability-range": "the warning names a range by build targets: code of the same major and a lower minor runs too",
    "minor-cuda": "a minor difference between toolkit and torch does no harm when an extension is compiled",
    "triton-missing": "without triton some optimisations are off, nothing else",
    "image-extension": "torchvision's image reader is off (libjpeg or libpng is missing); all else works",
    "pynvml-deprecated": "a note on another package's name",
    "typed-storage": "a note for developers",
    "wsl-link": "ldconfig only notes that the file is no link; libcuda works all the same",
    "dependency-warning": "pip notes a requirement of another package that is not met; torch works",
    "ngc-compat": "the image says which driver mode it runs in",
    "hipblaslt": "hipBLASLt has no code for this GPU, and torch computes with hipBLAS instead",
    "nvml-init": "NVML could not be asked; CUDA itself works",
}
_FINE = regex(
    r"\b(?:images?|pictures?|everything|all|generation|training|inference|it|rest|matmul)\b[^.\n]{0,30}\b(?:works?|runs?|fine|ok)\b",
    re.IGNORECASE,
)
_FITS = {"native": "has code of its own for", "compatible": "has code that runs on", "jit": "compiles at first use for"}


def harmless(s: Situation) -> Finding | None:
    """A message that looks bad while everything works."""
    e = s.evidence
    if false_alarm(s):
        headline = "nothing is wrong: code of the same major and a lower minor runs, whatever the warning says"
        shown = e.first("not-compatible")
        return finding(s, "harmless-warning", headline, shown=[shown], more=_fits(s), certainty="medium")
    shown = e.first(*_HARMLESS)
    if shown is None or is_ill(s) or _another_error(s):
        return None
    # hipBLASLt's note is printed by the very computation that goes on with something else.
    if not (works(s) or _said_to_work(s) or shown.name == "hipblaslt"):
        return None
    headline = f"nothing is wrong: {_HARMLESS[shown.name]}"
    sure = s.served or e.torch.available
    return finding(
        s, "harmless-warning", headline, shown=[shown], more=_fits(s), certainty="high" if sure else "medium"
    )


def _said_to_work(s: Situation) -> bool:
    """Whether the one who asks says that it works, and nothing that is known speaks against it."""
    return bool(_FINE.search(s.evidence.text)) and s.served is True and not (s.fit and s.fit.refusals)


def is_ill(s: Situation) -> bool:
    """Whether a message of an illness is there; torchvision quotes one in its note about the image reader."""
    quoted = s.evidence.lines("image-extension")
    return any(shown.line not in quoted for shown in s.evidence.all(*_ILL))


def _unexplained(s: Situation) -> bool:
    """Whether an error stands in the text, even without its traceback."""
    return any(x.get("type").endswith(("Error", "Exception")) for x in s.evidence.all("error-line"))


def _another_error(s: Situation) -> bool:
    """Whether a traceback is there that the harmless messages do not explain."""
    errors = [x for x in s.evidence.all("error-line") if "triton" not in x.text.lower()]
    return bool(errors) and s.evidence.has("traceback")


def fits(s: Situation) -> Finding | None:
    """Build, GPU and driver go together by the rules, or the GPU was seen to compute, and nothing fails."""
    e = s.evidence
    if not s.torch.known or e.has(*_ILL, "traceback") or not works(s) or _unexplained(s):
        return None
    if (e.torch.available is False and s.torch.accelerator == "cuda") or "CUDA error" in e.text:
        return None
    headline = f"{s.torch.shown} and {gpu_words(s.machine.gpus)} go together: nothing to do"
    if e.torch.mps:
        headline = f"{s.torch.shown} uses Apple's GPU (MPS): nothing to do; there is no CUDA on a Mac"
    elif s.torch.accelerator == "cpu":
        headline = f"{s.torch.shown} fits: there is no GPU to use"
    sure = e.torch.computed or e.torch.available
    return finding(s, "ok", headline, more=_fits(s), certainty="high" if sure else "medium")


def works(s: Situation) -> bool:
    """Whether everything that is known goes together, and enough is known.

    A live torch that did not say what it can do was not imported, or a companion was not: nothing untried works.
    """
    e = s.evidence
    if e.live and e.torch.available is None:
        return False
    if e.torch.computed or e.torch.mps:
        return True
    if any(c.belongs is False for c in s.companions):
        return False
    if s.torch.accelerator == "cpu":
        return not s.gpu_wanted and (e.host.gpu_absent or s.machine.os == "macos")
    if s.torch.accelerator == "xpu" and e.torch.xpu:
        return True
    if s.torch.vendor or s.torch.accelerator == "rocm":
        return e.torch.available is True
    # The warning of the range is printed once the driver has answered.
    if s.served and (s.driver.known or e.torch.available is True or e.has("capability-range")):
        return not (s.fit and s.fit.refusals)
    said = e.has(*_HARMLESS) or bool(_FINE.search(e.text))
    return e.torch.available is True and s.served is not False and said


def _fits(s: Situation) -> Iterator[str]:
    for fit in s.gpu_fits:
        if fit.verdict in _FITS and fit.code:
            yield f"{fit.code} {_FITS[fit.verdict]} {fit.gpu}"
