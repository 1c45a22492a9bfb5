"""The imported torch against the plan: it is the right build, and its binary holds the promised code."""

from __future__ import annotations

from envsolve.verify.checks.packages import same_version
from envsolve.verify.expected import Expected
from envsolve.verify.facts import BuildFacts
from envsolve.verify.report import Check

_FLAVOUR = {"cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU", "mps": "MPS", "cpu": "CPU"}


def build(facts: BuildFacts, expected: Expected) -> Check:
    """torch's own version and accelerator are the promised ones."""
    promised = expected.versions.get("torch", "")
    faults = []
    if promised and not same_version(promised, facts.version) and not same_version(facts.version, promised):
        faults.append(f"import torch gives {facts.version} from {facts.file}")
    wanted, seen = describe(expected.device, expected.cuda), describe(*_seen(facts))
    if not same_accelerator(facts, expected):
        faults.append(f"this is a {seen} of torch where a {wanted} was promised")
    foreign = "incompatib" in facts.cudnn
    if foreign:
        faults.append(f"a cuDNN from elsewhere is loaded: {_first_sentences(facts.cudnn)}")
    cudnn = f", cuDNN {facts.cudnn}" if facts.cudnn else ""
    return Check(
        name="build",
        outcome="failed" if faults else "passed",
        expected=f"torch {promised or 'of any version'}, a {wanted}",
        seen="; ".join(faults) or f"torch {facts.version}, a {seen}{cudnn}",
        hint=_hint(foreign=foreign and len(faults) == 1) if faults else "",
    )


def _hint(*, foreign: bool) -> str:
    if foreign:
        return "the wheel's own cuDNN is gone (see files), or LD_LIBRARY_PATH leads to another one: unset it"
    return "something else installed torch over it: envsolve install --replace"


def _first_sentences(text: str) -> str:
    """What torch compares, without its advice."""
    return text.removeprefix("unreadable: ").partition(". PyTorch already")[0]


def describe(device: str, cuda: str) -> str:
    """ "CUDA 13.0 build", "CPU build"."""
    return f"{_FLAVOUR[device]} {cuda}".strip() + " build"


def _seen(facts: BuildFacts) -> tuple[str, str]:
    if facts.cuda:
        return "cuda", facts.cuda
    if facts.hip:
        return "rocm", facts.hip
    return ("xpu" if facts.xpu else "cpu"), ""


def same_accelerator(facts: BuildFacts, expected: Expected) -> bool:
    """A build for the promised accelerator, and for the promised CUDA (major.minor)."""
    device, cuda = _seen(facts)
    if expected.device == "mps":
        return device == "cpu"  # torch.version says nothing of MPS
    if device != expected.device:
        return False
    return device != "cuda" or not expected.cuda or cuda.split(".")[:2] == expected.cuda.split(".")[:2]


def targets(facts: BuildFacts, expected: Expected) -> Check:
    """The arch list of the binary holds the code promised for each GPU; without GPUs, all that the rules say."""
    needed = tuple(code for code in dict.fromkeys(expected.gpu_codes) if code) or expected.targets
    shown = " ".join(facts.targets) or "none"
    missing = [code for code in needed if code not in facts.targets]
    if expected.device != "cuda":
        return Check(name="targets", outcome="skipped", expected="no CUDA code", seen=f"a plan for {expected.device}")
    seen = f"the binary has {shown}"
    if missing:
        seen += f"; not {', '.join(missing)}"
    return Check(
        name="targets",
        outcome="failed" if missing else "passed",
        expected=f"code for {' '.join(needed)}" if needed else "nothing was promised",
        seen=seen + _differences(facts, expected),
        hint="this binary is not the one that the rules describe: envsolve plan --refresh, and report it"
        if missing
        else "",
    )


def _differences(facts: BuildFacts, expected: Expected) -> str:
    """How the binary differs from the rules, where they know the build: told, but nothing to fail for by itself."""
    if not expected.targets or set(facts.targets) == set(expected.targets):
        return ""
    return f" (the rules say {' '.join(expected.targets)})"
