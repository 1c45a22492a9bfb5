"""Extensions: torch fits, a third-party CUDA extension does not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.blame import OWN_SPACES, blamed_module, foreign_file, is_foreign, owner_of
from envsolve.doctor.evidence import Frame, Symptom
from envsolve.doctor.facts import Extension
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.rulebook.tables import Certainty

_IMPORTS = ("undefined-symbol", "load-failed", "dll-failed", "different-cuda", "missing-operator", "symbol-not-found")
_KERNEL = ("no-kernel-image", "invalid-device-function", "bad-image")
# Messages of well-known extensions about themselves, and whose each is.
_OWN_WORDS = {
    "xformers-build": "xformers", "xformers-none": "xformers", "bitsandbytes": "bitsandbytes",
    "flash-old-gpu": "flash-attn", "flash-missing": "flash-attn", "deepspeed-cuda": "deepspeed",
    "torchcodec": "torchcodec", "ctranslate": "ctranslate2", "onnxruntime": "onnxruntime-gpu",
}  # fmt: skip
_TOOLKIT = fix(
    "give it a toolkit of the CUDA that torch was built with (CUDA_HOME), or run without its compiled operators",
    'python -c "import torch; print(torch.version.cuda)"',
)
_WITHOUT_FLASH = fix(
    "run without flash-attn, no build of it serves this GPU: torch's own attention (sdpa) does the same"
)


def extension(s: Situation) -> Finding | None:
    """An extension that was built for another torch, another CUDA or other GPUs."""
    return _wrong_torch(s) or _without_cuda(s) or _no_kernels(s) or _own_words(s) or _missing_library(s)


def _wrong_torch(s: Situation) -> Finding | None:
    """An undefined symbol, a library that cannot be loaded or a CUDA line of its own, in a module outside torch."""
    for symptom in s.evidence.all(*_IMPORTS):
        name = blamed_module(s.evidence, s.facts, symptom)
        if is_foreign(name):
            whose = s.torch.shown if s.torch.known else "the installed one"
            return told(s, name, f"{name} was built for another torch than {whose}", [symptom])
    return None


def _without_cuda(s: Situation) -> Finding | None:
    """An extension that has its operators for the CPU alone."""
    for shown in s.evidence.all("no-cuda-operator"):
        name = shown.get("space")
        if is_foreign(name) and name not in OWN_SPACES:
            return told(s, name, f"{name} was built without its CUDA part", [shown])
    return None


def _no_kernels(s: Situation) -> Finding | None:
    """No code for the GPU, raised in an extension while torch itself has it."""
    shown = s.evidence.first(*_KERNEL)
    frame = foreign_file(s.evidence, shown) if shown else None
    if shown is None or frame is None or s.served is False:
        return None
    known = _of_file(s, frame)
    own_code = known is not None or frame.path.endswith((".cu", ".cuh", ".so", ".pyd")) or s.evidence.torch.computed
    if s.served is None and not own_code:
        return None
    name = known.package if known else owner_of(frame.path)
    more = [f"raised in {frame.path}", *(["a plain torch operation ran"] if s.evidence.torch.computed else [])]
    headline = f"{name} has no code for this GPU; {s.torch.shown} itself has"
    return told(s, name, headline, [shown], certainty="high" if s.served else "medium", more=more)


def _of_file(s: Situation, frame: Frame) -> Extension | None:
    module = module_of(frame.path)
    if module:
        return s.facts.extension_of(module)
    words = (word.lower().replace("_", "-") for word in re.split(r"[/\\]", frame.path))
    return next((found for word in words if (found := s.facts.extensions.get(word))), None)


def _own_words(s: Situation) -> Finding | None:
    shown = s.evidence.first(*_OWN_WORDS)
    if shown is None or shown.get("have").endswith("+cpu"):
        return None
    if s.torch.accelerator == "cpu" and s.gpu_wanted and shown.name != "flash-missing":
        return None
    name = _OWN_WORDS[shown.name]
    ways = [_WITHOUT_FLASH] if shown.name == "flash-old-gpu" else []
    if shown.name == "deepspeed-cuda" and not shown.get("have"):
        ways = [_TOOLKIT]
    return told(s, name, _own_headline(s, shown, name), [shown], fixes=ways)


def _own_headline(s: Situation, shown: Symptom, name: str) -> str:
    known = s.facts.extension_of(name.replace("-", "_"))
    floor = known.first if known else None
    return {
        "xformers-build": f"xformers was built for torch {shown.get('torch') or 'of another build'}, installed is "
        f"{shown.get('have') or s.torch.shown}",
        "flash-old-gpu": f"flash-attn serves no GPU below compute capability {floor}",
        "deepspeed-cuda": f"DeepSpeed's compiler is CUDA {shown.get('have')}, torch is built for CUDA "
        f"{shown.get('torch')}"
        if shown.get("have")
        else "DeepSpeed has to compile its operators, and there is no CUDA toolkit to do it",
        "torchcodec": "torchcodec cannot load its library: FFmpeg is missing, or it belongs to another torch",
        "flash-missing": "flash-attn is asked for and not installed",
    }.get(shown.name, f"{name} does not fit; {s.torch.shown} itself is not to blame")


def _missing_library(s: Situation) -> Finding | None:
    """A CUDA library that an extension looks for and torch does not need: of another CUDA or cuDNN."""
    shown = s.evidence.first("no-shared-object")
    if shown is None:
        return None
    modules = [module_of(f.path) for f in s.evidence.frames if f.line <= shown.line and f.path.endswith(".py")]
    known = s.facts.extension_of(modules[-1]) if modules else None
    if known is None and modules[-1:] != ["torch"]:
        words = s.evidence.text.lower()
        known = next((x for x in s.facts.extensions.values() if x.package.lower() in words), None)
    if known is None:
        return None
    headline = f"{known.package} looks for a CUDA library of another version than {s.torch.shown} brings"
    return told(s, known.modules[0], headline, [shown], certainty="medium")


def told(
    s: Situation,
    name: str,
    headline: str,
    shown: Iterable[Symptom],
    *,
    certainty: Certainty = "high",
    more: Iterable[str] = (),
    fixes: Iterable[Fix] = (),
) -> Finding:
    """The finding about an extension; without fixes of its own the release that belongs to this torch, or a build."""
    known = s.facts.extension_of(name.replace("-", "_"))
    return finding(
        s,
        "not-torch" if known and known.beside else "foreign-extension",
        headline,
        shown=shown,
        more=more,
        fixes=list(fixes) or [_remedy(s, name)],
        certainty=certainty,
        fine=[f"{s.torch.shown} and the GPU go together"] if s.served else [],
    )


def _remedy(s: Situation, name: str) -> Fix:
    """The version that belongs to this torch where the rules know one; else another release, or a build here."""
    known = s.facts.extension_of(name.replace("-", "_"))
    package = known.package if known else name.replace("_", "-")
    paired = s.facts.paired(package, s.torch.version) if s.torch.version is not None else None
    if paired:
        own_index = package == "xformers" and s.torch.variant.startswith("cu")
        index = f" --index-url {PYTORCH_INDEX}/{s.torch.variant}" if own_index else ""
        text = f"take {package} {paired}, which belongs to {s.torch.shown}; leave torch as it is"
        return fix(text, f"pip install --no-deps {package}=={paired}{index}")
    if known is not None and known.from_source:
        text = (
            f"build {package} anew against the torch that is there, or take a wheel of it made for exactly this torch "
            "and GPU; leave torch as it is"
        )
        return fix(text, f"pip install --no-build-isolation --no-deps --no-cache-dir --force-reinstall {package}")
    return fix(f"take a release or build of {package} made for this torch, CUDA and GPU; leave torch as it is")
