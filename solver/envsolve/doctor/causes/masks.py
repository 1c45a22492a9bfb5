"""Masks: a variable, a scheduler or MIG that hides the GPU from the program."""

from __future__ import annotations

from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.machine.visible import visible
from envsolve.regex import regex

_MASKS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_FAILING = ("no-gpus", "bad-ordinal", "cuda-unavailable", "cuda-state-dict", "no-driver", "no-devices")
_NOTHING = ("", "-1", "none", "nodevfiles", "no_gpu", "void")
_ASKS = regex(r"--gres[= ]\S*gpu|--gpus(?:-per-\w+)?[= ]\w")


def masked(s: Situation) -> Finding | None:
    """A mask that leaves no GPU, or not the one that is asked for."""
    e = s.evidence
    failing = e.torch.available is False or e.torch.count == 0 or e.has(*_FAILING)
    mask = _hiding(s)
    if mask is None or not failing or e.torch.computed or s.torch.accelerator in ("cpu", "xpu"):
        return None
    name, value, what = mask
    other = "set it to 0" if value in ("", "-1") else "name a GPU that is there"
    return finding(
        s,
        "gpu-hidden",
        f"{name}={value!r} {what}",
        shown=[e.first("no-gpus", "bad-ordinal", "cuda-unavailable", "no-driver")],
        more=[f"{name}={value}"],
        fixes=[fix(f"unset it, or {other}, before the program starts", f"unset {name}")],
        fine=["driver and torch are not to blame"],
    )


def _hiding(s: Situation) -> tuple[str, str, str] | None:
    """(variable, value, what it does) of a mask that hides what is wanted."""
    for name in _MASKS:
        value = s.evidence.environment.get(name)
        if value is None or "$" in value or value == "all":
            continue
        if what := _what(s, name, value.strip()):
            return name, value, what
    return None


def _what(s: Situation, name: str, value: str) -> str:
    """What a mask does to the program; "" where it hides nothing as far as known."""
    if name == "NVIDIA_VISIBLE_DEVICES":
        return "keeps every GPU out of the container" if value in ("", "void", "none") else ""
    if value.lower() in _NOTHING:
        return "hides every GPU"
    if s.evidence.has("bad-ordinal"):
        return "leaves fewer GPUs than the program asks for; it counts from 0 within the mask"
    return "" if _sees_any(s, value) else "names no GPU of this machine, so that none is visible"


def _sees_any(s: Situation, value: str) -> bool:
    """Whether a mask leaves a GPU; an index above 0 where nobody listed the GPUs leaves none as far as known.

    Slices (MIG-…) are listed by nobody here: they count as there.
    """
    if value.startswith("MIG-"):
        return True
    if s.machine.gpus:
        return bool(visible(s.machine.gpus, value))
    first = value.split(",")[0].strip()
    return not (first.isdecimal() and int(first) > 0)


def job_without_gpu(s: Situation) -> Finding | None:
    """A batch job that asked its scheduler for no GPU."""
    e = s.evidence
    failing = e.first("no-gpus", "no-devices", "no-driver", "cuda-unavailable")
    if not e.has("slurm") or not (failing or e.torch.available is False):
        return None
    if s.torch.accelerator == "cpu" or _ASKS.search(e.text):
        return None
    return finding(
        s,
        "gpu-hidden",
        "the job asked the scheduler for no GPU, which hides them all from it",
        shown=[e.first("slurm"), failing],
        fixes=[fix("ask for a GPU", "srun --gres=gpu:1 --pty nvidia-smi")],
        certainty="medium",
    )


def mig_without_instance(s: Situation) -> Finding | None:
    """MIG is on, and nobody has cut the card into instances: programs see none."""
    e = s.evidence
    shown = e.first("mig-empty")
    if shown is None or not (e.torch.available is False or e.has("no-gpus", "cuda-unavailable", "init-failed")):
        return None
    return finding(
        s,
        "gpu-hidden",
        "MIG is on and has no instances: the card cannot be used as a whole, and there is no slice of it",
        shown=[shown, e.first("no-gpus", "init-failed")],
        fixes=[fix("make instances, or switch MIG off", "sudo nvidia-smi mig -cgi 0 -C", "sudo nvidia-smi -mig 0")],
    )
