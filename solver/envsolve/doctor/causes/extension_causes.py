"""Extensions: torch fits, a third-party CUDA extension does not."""

from __future__ import annotations

import re

from envsolve.doctor.evidence import Frame, Symptom
from envsolve.doctor.facts import Extension
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import public
from envsolve.doctor.wording import facts_of, quoted

_FAMILY = {
    "torch",
    "torchvision",
    "torchaudio",
    "torchgen",
    "functorch",
    "triton",
    "nvidia",
    "numpy",
    "pip",
    "setuptools",
}
# Python packages on the way to torch that have no CUDA code of their own: a frame of theirs blames nobody.
_PURE = {
    "transformers", "diffusers", "accelerate", "lightning", "pytorch_lightning", "lightning_fabric", "ultralytics", "timm",
    "peft", "sentence_transformers", "datasets", "einops", "gradio", "kornia", "monai", "fastai", "torchmetrics", "whisper",
    "pyannote", "whisperx", "trl", "safetensors", "huggingface_hub", "uvicorn", "fastapi", "starlette", "anyio", "_pytest", "IPython",
    "ipykernel", "openclip", "open_clip", "clip", "spandrel", "controlnet_aux", "speechbrain", "TTS", "demucs", "nemo", "unsloth",
    "tqdm", "typing_extensions", "omegaconf", "hydra", "pluggy", "traitlets", "tornado", "comfy", "faster_whisper", "streamlit",
    "compressed_tensors", "optimum", "stable_baselines3", "segment_anything", "easyocr", "docling", "marker", "surya", "insightface",
}  # fmt: skip
_KERNEL = ("no-kernel-image", "invalid-device-function", "bad-image")
_OWN_SAY = (
    "xformers-build", "bitsandbytes", "flash-old-gpu", "deepspeed-cuda", "torchcodec", "xformers-none", "ctranslate", "onnxruntime",
    "flash-missing",
)  # fmt: skip


def extension(s: Situation) -> Finding | None:
    """An extension that was built for another torch, another CUDA or other GPUs."""
    return _wrong_torch(s) or _no_kernels(s) or _own_words(s) or _missing_library(s) or _building(s)


def _wrong_torch(s: Situation) -> Finding | None:
    """An undefined symbol, a library that cannot be loaded or a CUDA line of its own, in a module outside torch."""
    for symptom in s.evidence.all(
        "undefined-symbol", "load-failed", "dll-failed", "different-cuda", "missing-operator", "symbol-not-found"
    ):
        name = _module_of_symptom(s, symptom)
        if name and name.lower() not in _FAMILY and name not in _PURE:
            return _finding(s, name, f"{name} was built for another torch than {s.torch.shown}", [symptom], "high")
    return None


def _module_of_symptom(s: Situation, symptom: Symptom) -> str:
    """The module that a message blames: by its library, by its own word, or by the last frame above it."""
    if symptom.name == "different-cuda":
        return symptom.get("other") if symptom.get("other") not in ("torchvision", "torchaudio") else ""
    if symptom.name == "missing-operator":
        space = (symptom.get("operator") or symptom.get("operator2")).split("::")[0] or symptom.get("space")
        return (
            space
            if space and space not in ("torchvision", "torchaudio", "aten", "prims", "profiler", "c10d", "quantized")
            else ""
        )
    library = symptom.get("library") or symptom.get("library2")
    if symptom.name == "dll-failed" and symptom.get("module"):
        return _dll_module(s, symptom)
    found = module_of(library)
    if not found and library:
        found = re.split(r"[./\\]", re.split(r"[/\\]", library)[-1])[0].removeprefix("lib")
        found = "" if found.startswith(("torch", "c10", "cu", "nv")) and not s.facts.extension_of(found) else found
    if found.startswith("_") or found == "":
        return ""
    known = s.facts.extension_of(found)
    return known.modules[0] if known else found


def _dll_module(s: Situation, symptom: Symptom) -> str:
    """ "DLL load failed while importing _C": whose _C the last frame above tells."""
    module = symptom.get("module").split(".")[0]
    if module and not module.startswith("_"):
        return module if module.lower() not in _FAMILY else ""
    frame = _last_foreign(s, symptom.line)
    return module_of(frame.path) if frame and frame is _last_frame(s, symptom.line) else ""


def _last_frame(s: Situation, line: int) -> Frame | None:
    return next((f for f in reversed(s.evidence.frames) if f.line <= line and f.path.endswith(".py")), None)


def _last_foreign(s: Situation, line: int) -> Frame | None:
    """The last file above a message that belongs to a package outside torch with code of its own, close to it."""
    near = [f for f in s.evidence.frames if line - 60 <= f.line <= line + 1]
    return next((f for f in reversed(near) if _is_foreign(f.path)), None)


def _is_foreign(path: str) -> bool:
    module = module_of(path)
    if module:
        return module not in _FAMILY and module not in _PURE
    # A CUDA source outside torch's tree, as a compiled library names it.
    return bool(re.search(r"\.(?:cu|cuh)$", path)) and not re.search(
        r"aten|ATen|THC|c10|torch[/\\]csrc|[/\\]pytorch[/\\]|torch[/\\]lib[/\\]th|\.\./", path
    )


def _no_kernels(s: Situation) -> Finding | None:
    """No code for the GPU, raised in an extension while torch itself has it."""
    shown = s.evidence.first(*_KERNEL)
    if shown is None or s.served is False:
        return None
    frame = _last_foreign(s, shown.line) or _source_in(shown)
    if frame is None:
        return None
    known = _extension_in(s, frame)
    name = known.package if known else module_of(frame.path) or _source_owner(frame.path)
    own_code = known is not None or frame.path.endswith((".cu", ".cuh", ".so", ".pyd")) or s.evidence.torch.computed
    if s.served is None and not own_code:
        return None
    proof = ["a plain torch operation ran on the GPU"] if s.evidence.torch.computed else []
    headline = f"{name} has no code for this GPU; {s.torch.shown} itself has"
    return _finding(s, name, headline, [shown], "high" if s.served else "medium", [f"raised in {frame.path}", *proof])


def _source_in(symptom: Symptom) -> Frame | None:
    match = re.search(r"(?:[A-Za-z]:)?[\w./\\+~-]+\.(?:cu|cuh)(?=[:(])", symptom.text)
    return Frame(path=match[0], line=symptom.line) if match and _is_foreign(match[0]) else None


def _extension_in(s: Situation, frame: Frame) -> Extension | None:
    module = module_of(frame.path)
    if module:
        return s.facts.extension_of(module)
    words = re.split(r"[/\\]", frame.path)
    return next((x for word in words if (x := s.facts.extensions.get(word.lower().replace("_", "-")))), None)


def _source_owner(path: str) -> str:
    """A word for whose source this is: the folder below which it lies."""
    words = [w for w in re.split(r"[/\\]", path) if w and w not in ("csrc", "src", "cuda", "kernels", "vendor")]
    return words[-2] if len(words) > 1 else words[-1]


def _own_words(s: Situation) -> Finding | None:
    """Messages of well-known extensions about themselves."""
    shown = s.evidence.first(*_OWN_SAY)
    if shown is None or s.torch.accelerator == "cpu" and s.gpu_wanted and shown.name != "flash-missing":
        return None
    if shown.name == "xformers-build" and _is_cpu(shown.get("have")):
        return None
    name = {
        "xformers-build": "xformers",
        "xformers-none": "xformers",
        "flash-old-gpu": "flash-attn",
        "flash-missing": "flash-attn",
        "deepspeed-cuda": "deepspeed",
        "ctranslate": "ctranslate2",
        "onnxruntime": "onnxruntime-gpu",
    }.get(shown.name, shown.name)
    headline = {
        "xformers-build": f"xformers was built for torch {shown.get('torch') or 'of another build'}, installed is "
                          f"{shown.get('have') or s.torch.shown}",
        "flash-old-gpu": "flash-attn serves no GPU below compute capability 8.0",
        "deepspeed-cuda": f"DeepSpeed's compiler is CUDA {shown.get('have')}, torch is built for CUDA {shown.get('torch')}",
        "torchcodec": "torchcodec cannot load its library: FFmpeg is missing, or it belongs to another torch",
        "flash-missing": "flash-attn is asked for and not installed",
    }.get(shown.name, f"{name} does not fit; {s.torch.shown} itself is not to blame")  # fmt: skip
    return _finding(s, name, headline, [shown], "high")


def _is_cpu(version: str) -> bool:
    return version.endswith("+cpu")


def _missing_library(s: Situation) -> Finding | None:
    """A CUDA library that an extension looks for and torch does not need: of another CUDA or cuDNN."""
    shown = s.evidence.first("no-shared-object")
    if shown is None:
        return None
    modules = [module_of(f.path) for f in s.evidence.frames if f.line <= shown.line and f.path.endswith(".py")]
    known = s.facts.extension_of(modules[-1]) if modules else None
    if known is None and not (modules and modules[-1] == "torch"):
        words = s.evidence.text.lower()
        known = next((x for x in s.facts.extensions.values() if x.package.lower() in words), None)
    if known is None:
        return None
    headline = f"{known.package} looks for a CUDA library of another version than {s.torch.shown} brings"
    return _finding(s, known.modules[0], headline, [shown], "medium")


def _building(s: Situation) -> Finding | None:
    """An extension that could not be built on this machine."""
    e = s.evidence
    shown = e.first("build-cuda", "nvcc-target", "cuda-home") or e.first("build-failed", "build-isolation")
    if shown is None:
        return None
    name = _being_built(s)
    if name is None and shown.name in ("build-failed", "build-isolation", "cuda-home"):
        return None
    package = name or "the extension"
    headline = {
        "build-cuda": f"{package} is compiled with CUDA {shown.get('have')}, torch is a build for CUDA {shown.get('torch')}",
        "nvcc-target": f"the toolkit's nvcc does not know the GPU ({shown.get('target')}) that {package} is compiled for",
        "cuda-home": f"{package} has to be compiled, and there is no CUDA toolkit to do it",
    }.get(shown.name, f"{package} could not be built; {s.torch.shown} itself is not to blame")
    fixes = [Fix(text=f"take a ready-made wheel of {package} for this torch, CUDA and Python, if its makers have one")]
    if e.has("build-isolation"):
        fixes.insert(
            0,
            Fix(
                text="it needs the installed torch while it is built: switch the build isolation off",
                commands=(f"pip install --no-build-isolation {package}",),
            ),
        )
    if shown.name in ("build-cuda", "nvcc-target"):
        fixes.append(Fix(text="or compile with a toolkit of the CUDA that torch was built with (torch.version.cuda)"))
    return _finding(s, package, headline, [shown], "medium", fixes=fixes)


def _being_built(s: Situation) -> str | None:
    """The extension that an installer was building; None for anything else."""
    e = s.evidence
    words = [x.get("package") or x.get("package2") for x in e.all("build-failed")]
    words += [r for c in e.commands if c.tool in ("pip", "uv") for r in c.requirements]
    words += re.findall(r"\b[\w-]+(?=-\d[\w.]*\.tar\.gz)", e.text)
    for word in words:
        name = re.split(r"[<>=!~\[ ;@]", word)[0].lower().replace("_", "-").strip("./")
        if name in s.facts.extensions:
            return s.facts.extensions[name].package
    modules = [module_of(f.path) for f in e.frames]
    return next((x.package for m in modules if m and (x := s.facts.extension_of(m))), None)


def _finding(
    s: Situation, name: str, headline: str, shown: list[Symptom], certainty: str, more: list[str] | None = None,
    fixes: list[Fix] | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        code="foreign-extension",
        headline=headline,
        certainty=certainty,  # type: ignore[arg-type]
        evidence=tuple([*quoted(shown), *(more or []), *facts_of(s)]),
        fixes=tuple(fixes or _remedy(s, name)),
        fine=(f"{s.torch.shown} and the GPU go together",) if s.served else (),
    )


def _remedy(s: Situation, name: str) -> list[Fix]:
    """The version that belongs to this torch where the rules know one; else another release, or a build here."""
    known = s.facts.extension_of(name)
    package = known.package if known else name.replace("_", "-")
    paired = s.facts.paired(package, s.torch.version) if s.torch.version is not None else None
    if paired:
        index = (
            f" --index-url https://download.pytorch.org/whl/{s.torch.variant}"
            if s.torch.variant.startswith("cu") and package == "xformers"
            else ""
        )
        return [
            Fix(
                text=f"take {package} {paired}, which belongs to {s.torch.shown}; leave torch as it is",
                commands=(f"pip install --no-deps {package}=={paired}{index}",),
            )
        ]
    if known is not None and known.from_source:
        return [
            Fix(
                text=f"build {package} anew against the torch that is there, or take a wheel of it made for exactly this torch and GPU; "
                "leave torch as it is",
                commands=(f"pip install --no-build-isolation --no-deps --no-cache-dir --force-reinstall {package}",),
            )
        ]
    return [Fix(text=f"take a release or build of {package} made for this torch, CUDA and GPU; leave torch as it is")]


def compiled_for(s: Situation, version: str) -> bool:
    """Whether a version text names the installed torch."""
    return public(version) == s.torch.version
