"""Blame: which module outside the torch set a message or a traceback points at. Pure reading."""

from __future__ import annotations

import re

from envsolve.doctor.evidence import Evidence, Frame, Symptom
from envsolve.doctor.facts import Facts
from envsolve.doctor.report_frames import module_of
from envsolve.regex import regex

FAMILY = frozenset({
    "torch", "torchvision", "torchaudio", "torchgen", "functorch", "triton", "nvidia", "numpy", "pip", "setuptools",
})  # fmt: skip
# Python packages on the way to torch that have no CUDA code of their own: a frame of theirs blames nobody.
_PURE = frozenset({
    "transformers", "diffusers", "accelerate", "lightning", "pytorch_lightning", "lightning_fabric", "ultralytics",
    "timm", "peft", "sentence_transformers", "datasets", "einops", "gradio", "kornia", "monai", "fastai",
    "torchmetrics", "whisper", "pyannote", "whisperx", "trl", "safetensors", "huggingface_hub", "uvicorn",
    "fastapi", "starlette", "anyio", "_pytest", "IPython", "ipykernel", "openclip", "open_clip", "clip",
    "spandrel", "controlnet_aux", "speechbrain", "TTS", "demucs", "nemo", "unsloth", "tqdm", "typing_extensions",
    "omegaconf", "hydra", "pluggy", "traitlets", "tornado", "comfy", "faster_whisper", "streamlit",
    "compressed_tensors", "optimum", "stable_baselines3", "segment_anything", "easyocr", "docling", "marker",
    "surya", "insightface", "skimage", "PIL",
})  # fmt: skip
OWN_SPACES = ("torchvision", "torchaudio", "aten", "prims", "profiler", "c10d", "quantized")
_TORCH_SOURCE = regex(r"aten|ATen|THC|c10|torch[/\\]csrc|[/\\]pytorch[/\\]|torch[/\\]lib[/\\]th|\.\./")
_CUDA_SOURCE = regex(r"(?:[A-Za-z]:)?[\w./\\+~-]+\.(?:cu|cuh)(?=[:(])")
_NEAR_LINES = 60  # a traceback's own lines before its message


def is_foreign(module: str) -> bool:
    """Whether a module is neither of the torch set nor plain Python on the way to it."""
    return bool(module) and module.lower() not in FAMILY and module not in _PURE


def blamed_module(evidence: Evidence, facts: Facts, symptom: Symptom) -> str:
    """The module that a message blames: by its own word, by its library, or by the last file above it; "" if none."""
    if symptom.name == "different-cuda":
        other = symptom.get("other")
        return "" if other.lower() in FAMILY else other
    if symptom.name == "missing-operator":
        operator = symptom.get("operator") or symptom.get("operator2")
        space = operator.split("::")[0] or symptom.get("space")
        return "" if space in OWN_SPACES else space
    if symptom.name == "dll-failed" and symptom.get("module"):
        return _of_dll(evidence, symptom)
    if symptom.name == "dll-failed" and not symptom.get("library"):
        return _of_loader(evidence, symptom)
    return _of_library(facts, symptom.get("library") or symptom.get("library2"))


def _of_library(facts: Facts, library: str) -> str:
    found = module_of(library)
    if not found and library:
        found = re.split(r"[./\\]", re.split(r"[/\\]", library)[-1])[0].removeprefix("lib")
        ours = found.startswith(("torch", "c10", "cu", "nv"))
        found = "" if ours and facts.extension_of(found) is None else found
    if found.startswith("_"):  # "_C" of a checkout: its folder tells whose
        folders = [word for word in re.split(r"[/\\]", library)[:-1] if word]
        found = folders[-1] if folders and is_foreign(folders[-1]) and folders[-1].isidentifier() else ""
    if not found or found.startswith("_"):
        return ""
    known = facts.extension_of(found)
    return known.modules[0] if known else found


def _of_dll(evidence: Evidence, symptom: Symptom) -> str:
    """ "DLL load failed while importing _C": whose _C the last file above tells."""
    module = symptom.get("module").split(".")[0]
    if module and not module.startswith("_"):
        return "" if module.lower() in FAMILY else module
    last = next((f for f in reversed(evidence.frames) if f.line <= symptom.line and f.path.endswith(".py")), None)
    found = module_of(last.path) if last else ""
    return found if is_foreign(found) else ""


def _of_loader(evidence: Evidence, symptom: Symptom) -> str:
    """Windows often names no library: the last file above that is not torch's was loading it."""
    near = [f for f in evidence.frames if abs(f.line - symptom.line) <= _NEAR_LINES and f.path.endswith(".py")]
    above = [f for f in near if f.line <= symptom.line] or near
    found = next((m for f in reversed(above) if (m := module_of(f.path)) != "torch"), "")
    return found if is_foreign(found) else ""


def foreign_file(evidence: Evidence, symptom: Symptom) -> Frame | None:
    """The last file near a message that belongs to code outside torch, the message's own line included."""
    near = [f for f in evidence.frames if symptom.line - _NEAR_LINES <= f.line <= symptom.line + 1]
    found = next((f for f in reversed(near) if _is_foreign_file(f.path)), None)
    source = _CUDA_SOURCE.search(symptom.text)
    if found is None and source and _is_foreign_file(source[0]):
        return Frame(path=source[0], line=symptom.line)
    return found


def _is_foreign_file(path: str) -> bool:
    module = module_of(path)
    if module:
        return is_foreign(module)
    # A CUDA source or header outside torch's tree, as a compiled library names it.
    return path.endswith((".cu", ".cuh", ".h", ".hpp")) and not _TORCH_SOURCE.search(path)


def owner_of(path: str) -> str:
    """A word for whose file this is: its package, else the folder below which the source lies."""
    words = [w for w in re.split(r"[/\\]", path) if w and w not in ("csrc", "src", "cuda", "kernels", "vendor")]
    return module_of(path) or (words[-2] if len(words) > 1 else words[-1] if words else path)
