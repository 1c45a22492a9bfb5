"""Packages that should not be there: a hostile one, and NVIDIA's libraries beside a CPU build."""

from __future__ import annotations

import re

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_NVIDIA = regex(r"nvidia-[\w-]+-cu\d+")
_PLAIN_INSTALL = regex(r"\bpip3? install [^`\n]*\btorch\b(?![^`\n]*(?:index-url| -i ))")
_NVIDIA_WORD = regex(r"\bnvidia-(?:cublas|cudnn|cuda|cufft|nccl)\S*")
_CPU_WANTED = regex(
    r"\b(?:only|just) (?:need|want|use|have) (?:the |a )?CPU\b|\bCPU[- ]only\b|\bfor the CPU only\b"
    r"|\b(?:has|have|there is|with) no (?:NVIDIA )?GPU\b|\bwithout (?:a |any )?GPU\b|\(no GPU\)",
    re.IGNORECASE,
)


def hostile(s: Situation) -> Finding | None:
    """A package that must not be installed."""
    e = s.evidence
    for name in s.facts.bad_names:
        row = e.installed.get(name)
        if row is not None and row.channel not in ("", "pypi"):
            continue  # conda's own package of this name is the real one
        seen = row is not None or re.search(rf"\b{re.escape(name)}[-= ]+\d", e.text)
        bad = s.facts.bad_name(name) if seen else None
        if bad is None:
            continue
        meant, why = bad
        text = (
            "remove it, treat the machine as compromised (change its keys and tokens), and install anew with one "
            f"index; what was meant is {meant}"
        )
        lines = [line.strip() for line in e.text.split("\n") if name in line][:4]
        way = fix(text, f"pip uninstall {name}", "pip cache purge")
        return finding(s, "index-problem", f"{name}: {why}", more=lines, fixes=[way])
    return None


def cuda_for_the_cpu(s: Situation) -> Finding | None:
    """Only the CPU is wanted, and the default Python index gave the CUDA build with all that it requires."""
    e = s.evidence
    told = all(form.search(e.text) for form in (_PLAIN_INSTALL, _NVIDIA_WORD, _CPU_WANTED))
    if not told or s.is_failing or s.torch.accelerator == "cpu":
        return None
    headline = "the default Python index has the CUDA build for Linux; the CPU build is on an index of its own"
    way = fix("take torch from there", f"pip install torch --index-url {PYTORCH_INDEX}/cpu")
    return finding(s, "index-problem", headline, fixes=[way], certainty="medium")


def superfluous(s: Situation) -> Finding | None:
    """NVIDIA packages beside a CPU build: metadata listed them; they are not needed."""
    e = s.evidence
    if s.torch.accelerator != "cpu" or not s.torch.certain or s.machine.gpus or e.host.gpu_claimed:
        return None
    came = [c.name for c in e.changes if _NVIDIA.fullmatch(c.name)] or [n for n in e.installed if _NVIDIA.fullmatch(n)]
    if not came:
        return None
    headline = f"the CPU build needs none of the {len(came)} nvidia packages: the index's metadata listed them"
    way = fix("remove them, and lock again from the cpu index", f"pip uninstall {' '.join(came[:8])}")
    more = [f"installed beside it: {', '.join(came[:4])}"]
    return finding(s, "index-problem", headline, more=more, fixes=[way], certainty="medium")
