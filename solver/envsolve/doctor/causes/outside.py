"""Outside: the trouble is a package or program that is not of the torch set, or more must be known."""

from __future__ import annotations

import re

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.facts import Extension
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import ASK_DRIVER, ASK_ERROR, ASK_GPU, ASK_MASK, ASK_TORCH
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import facts_of, quoted
from envsolve.resolve.plan import Missing

_SAID = {
    "out-of-memory": ("the GPU's memory is full: the set itself works", "use a smaller batch or model, and see who else uses the card"),
    "no-space": ("the disk is full", "free space on the disk that the message names (TMPDIR and the cache too)"),
    "memory": ("the machine has too little memory for this step", "free memory; pip install --no-cache-dir needs less"),
    "externally-managed": ("the system's Python refuses installs", "make an environment of its own: python -m venv, or envsolve install"),
    "omp-twice": ("two OpenMP libraries are loaded (often conda's MKL beside pip's torch)", "make an environment with packages of one distributor"),
    "weights-only": ("the checkpoint holds more than weights, which torch.load refuses since 2.6", "trust the file? then torch.load(..., weights_only=False)"),
    "functional-tensor": ("the calling package uses a torchvision module that has gone", "take a newer release of the package in the traceback"),
    "windows-long-path": ("Windows' limit on the length of paths", "allow long paths, or use a shorter folder"),
    "inductor-compiler": ("torch.compile finds no compiler", "install one, or run without torch.compile"),
    "python-h": ("the headers of this Python are missing for compiling", "install them (python3-dev)"),
    "pkg-resources": ("setuptools or distutils is missing in this environment", "install setuptools"),
    "ffmpeg": ("FFmpeg or an audio backend is missing", "install it"),
    "hub": ("the model hub did not give the file", "look at the name, the login and the network"),
    "parse-driver": ("a tool misreads what nvidia-smi prints; torch is not at fault", "take a newer release of that tool"),
    "tensorflow": ("this is TensorFlow's message: it has CUDA needs of its own", "see TensorFlow's own list of CUDA versions"),
    "tensorrt": ("this is TensorRT's message", "see TensorRT's own list of versions"),
    "access-denied": ("a file or folder may not be written", "close the programs that use it, or install into an environment of your own"),
    "launch-failure": ("a kernel failed while it ran: a fault of the program or its data, not of the set", "run with CUDA_LAUNCH_BLOCKING=1 to see where"),
    "crt": ("a runtime library of Windows is missing (Visual C++ redistributable)", "install the Visual C++ redistributable"),
}  # fmt: skip


def known_message(s: Situation) -> Finding | None:
    """A known message of something else."""
    shown = s.evidence.first(*_SAID)
    if shown is None:
        return None
    headline, fix = _SAID[shown.name]
    return Finding(
        code="not-torch",
        headline=headline,
        certainty="high",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(Fix(text=fix),),
        fine=(f"{s.torch.shown} is not to blame",) if s.torch.known else (),
    )


def other_module(s: Situation) -> Finding | None:
    """A module outside the torch set that is missing or has changed."""
    e = s.evidence
    for shown in e.all("other-module", "other-import"):
        module = shown.get("module").split(".")[0]
        known = s.facts.extension_of(module)
        if known is not None and shown.name == "other-module" and module != known.modules[0]:
            return _not_built(s, known, shown)
        if module and module not in ("torch", "torchvision", "torchaudio", "triton"):
            what = "is missing" if shown.name == "other-module" else "is another version than its caller expects"
            return Finding(
                code="not-torch",
                headline=f"the package {module} {what}; the torch set is not to blame",
                certainty="medium",
                evidence=tuple([*quoted([shown]), *facts_of(s)]),
                fixes=(Fix(text=f"install {module} in the version that the project asks for"),),
            )
    failure = e.first("build-failed", "pip-none", "conflict", "uv-no-solution", "conda-unsatisfiable")
    if failure is not None:
        return Finding(
            code="not-torch",
            headline="a package outside the torch set cannot be installed",
            certainty="low",
            evidence=tuple(quoted([failure])),
            fixes=(Fix(text="see that package's own requirements"),),
        )
    return None


def _not_built(s: Situation, extension: Extension, shown: Symptom) -> Finding:
    """The Python part of an extension is there, its compiled part is not."""
    text = f"build {extension.package} with its CUDA part against the torch that is there; leave torch as it is"
    return Finding(
        code="foreign-extension",
        headline=f"the compiled part of {extension.package} is missing: it was not built for this torch",
        certainty="high",
        evidence=tuple([*quoted([shown]), *facts_of(s)]),
        fixes=(Fix(text=text),),
    )


def unknown(s: Situation) -> Finding:
    """What decides is not in the text: it is asked for."""
    missing = _missing(s)
    return Finding(
        code="unknown",
        headline=_headline(s, missing),
        certainty="low",
        evidence=tuple(
            [
                *quoted(s.evidence.all("no-gpus", "cuda-unavailable", "error-line", "no-driver")[:2]),
                *facts_of(s),
                *_problems(s),
            ]
        ),
        missing=tuple(missing),
    )


def _problems(s: Situation) -> list[str]:
    return [p.text for p in s.machine.problems]


def _missing(s: Situation) -> list[Missing]:
    missing = []
    if not s.torch.known or (s.torch.variant == "" and not s.torch.vendor):
        missing.append(ASK_TORCH)
    if not any(g.compute_capability for g in s.machine.gpus) and not s.evidence.host.gpu_absent:
        missing.append(_gpu(s))
    if not s.driver.known and not s.evidence.host.gpu_absent:
        missing.append(ASK_DRIVER)
    if s.evidence.has("no-gpus", "cuda-unavailable") or s.evidence.torch.available is False:
        missing.append(ASK_MASK)
    return missing or [ASK_ERROR]


def _gpu(s: Situation) -> Missing:
    """In WSL nvidia-smi lies beside the path; an old one knows no capability; else the usual question."""
    if s.machine.wsl:
        return Missing(
            field="gpu",
            how="/usr/lib/wsl/lib/nvidia-smi, or nvidia-smi.exe: the command is there, only not on this PATH",
        )
    if re.search(r'Field "compute_cap" is not a valid', s.evidence.text):
        return Missing(
            field="gpu",
            how="nvidia-smi --query-gpu=name --format=csv,noheader: this old nvidia-smi knows no compute_cap, the name tells it",
        )
    return ASK_GPU


def _headline(s: Situation, missing: list[Missing]) -> str:
    fields = " and ".join(dict.fromkeys(m.field for m in missing))
    return f"more must be known to say what is wrong: {fields}"
