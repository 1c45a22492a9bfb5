"""Outside: the trouble is a package or program that is not of the torch set."""

from __future__ import annotations

import re

from envsolve.doctor.blame import FAMILY as BLAME_FAMILY
from envsolve.doctor.causes.healthy import is_ill, works
from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix

# Message -> (what it means, what to do).
_SAID = {
    "out-of-memory": (
        "the GPU's memory is full: the set itself works",
        "use a smaller batch or model, and see who else uses the card",
    ),
    "cublas-alloc": (
        "cuBLAS got no memory on the GPU: it is full, or an earlier error has spoilt it",
        "use a smaller batch or model, see who else uses the card; CUDA_LAUNCH_BLOCKING=1 shows an earlier error",
    ),
    "numba": (
        "this is Numba's error: it needs parts of a CUDA toolkit, which torch does not",
        "install them for Numba alone (conda-forge's cuda-nvcc, or pip's numba-cuda with its extra for the CUDA)",
    ),
    "slow-import": (
        "importing torch reads some thousand files, which takes minutes from a network disk",
        "put the environment on a local disk of the node, or into an image",
    ),
    "jax": (
        "this is JAX's error: it brings CUDA libraries of its own versions",
        "make an environment for it alone; torch and jax[cuda] seldom agree on cuDNN",
    ),
    "mps-float64": (
        "Apple's GPU (MPS) has no float64: the set itself works",
        "use float32 there, or the device cpu for what needs float64",
    ),
    "mps-operator": (
        "torch has no such operator for Apple's GPU (MPS): the set itself works",
        "let it fall back to the CPU: PYTORCH_ENABLE_MPS_FALLBACK=1, set before Python starts; a newer torch has more",
    ),
    "mps-memory": (
        "the memory that Apple's GPU may use is full: the set itself works",
        "use a smaller batch or model, and close what else takes memory",
    ),
    "no-device-code": (
        "a program with CUDA code of its own (ggml, llama.cpp) has none for this GPU; torch is not to blame",
        "take a build of it for this GPU, or build it here (CMAKE_CUDA_ARCHITECTURES=native)",
    ),
    "forked": (
        "the program uses the GPU in a forked process: the set itself works",
        "start its processes afresh: torch.multiprocessing.set_start_method('spawn')",
    ),
    "no-space": ("the disk is full", "free space on the disk that the message names (TMPDIR and the cache too)"),
    "memory": ("the machine has too little memory for this step", "free memory; pip --no-cache-dir needs less"),
    "externally-managed": ("the system's Python refuses installs", "make an environment of its own"),
    "omp-twice": (
        "two OpenMP libraries are loaded (often conda's MKL beside pip's torch)",
        "make an environment with the packages of one distributor",
    ),
    "weights-only": (
        "the checkpoint, or the program that loads it, does not go with this torch's rules for torch.load",
        "trust the file? then torch.load(..., weights_only=False); else a checkpoint in safetensors form",
    ),
    "functional-tensor": (
        "the calling package uses a torchvision module that has gone",
        "take a newer release of the package in the traceback",
    ),
    "windows-long-path": ("Windows' limit on the length of paths", "allow long paths, or use a shorter folder"),
    "ecc": (
        "the GPU's memory has a fault that it can't correct (ECC): the card, not the set",
        "reset the GPU or reboot, see nvidia-smi -q -d ECC,ROW_REMAPPER; if it comes back, have the card replaced",
    ),
    "triton-libcuda": (
        "triton asks ldconfig for libcuda.so and gets no answer; torch itself finds the driver",
        "make the driver's folder known to ldconfig (sudo ldconfig), or set TRITON_LIBCUDA_PATH to it",
    ),
    "torchcodec-missing": (
        "torchaudio reads files by torchcodec, which is not installed",
        "install the torchcodec that belongs to this torch",
    ),
    "bfloat16": (
        "the program asks for bfloat16, which this GPU has not: the set itself works",
        "ask for float16 instead (--dtype half)",
    ),
    "dataloader": (
        "a worker process of the data loader died: a fault of memory, data or the script, not of the set",
        "run with num_workers=0 to see its own error; on Windows guard the script with if __name__ == '__main__'",
    ),
    "numpy-removed": (
        "a package uses a name that this NumPy has dropped; torch is not to blame",
        "take a newer release of the package in the traceback, or the NumPy that it was written for",
    ),
    "newer-torch": (
        "a package asks for a newer torch than the one that is installed, and goes on without it",
        "take an older release of the package, or a newer torch with everything that belongs to it",
    ),
    "python-h": ("the headers of this Python are missing for compiling", "install them (python3-dev)"),
    "pkg-resources": ("setuptools or distutils is missing in this environment", "install setuptools"),
    "ffmpeg": ("FFmpeg or an audio backend is missing", "install it"),
    "hub": ("the model hub did not give the file", "look at the name, the login and the network"),
    "parse-driver": ("a tool misreads what nvidia-smi prints; torch is not at fault", "take a newer release of it"),
    "tensorflow": (
        "this is TensorFlow's message: it has CUDA needs of its own",
        "see TensorFlow's own list of CUDA versions",
    ),
    "paddle": (
        "this is PaddlePaddle's message: it has CUDA needs of its own",
        "see Paddle's own list of CUDA and cuDNN versions; an environment of its own",
    ),
    "tensorrt": ("this is TensorRT's message", "see TensorRT's own list of versions"),
    "access-denied": (
        "a file or folder may not be written",
        "close the programs that use it, or install into an environment of your own",
    ),
    "launch-failure": (
        "a kernel failed while it ran: a fault of the program or its data, not of the set",
        "run with CUDA_LAUNCH_BLOCKING=1 to see where",
    ),
    "numpy-dtype-size": (
        "a compiled package belongs to another NumPy than the one that is installed; torch is not to blame",
        "install the package in the traceback anew, or take the NumPy that it was built for",
    ),
    "crt": (
        "a runtime library of Windows is missing (Visual C++ redistributable)",
        "install the Visual C++ redistributable",
    ),
}
_FAILED = ("build-failed", "pip-none", "conflict", "uv-no-solution", "conda-unsatisfiable")
_FAMILY = ("torch", "torchvision", "torchaudio", "triton")


def faulty_file(s: Situation) -> Finding | None:
    """A file of this very release of torch that can't be loaded on many machines."""
    for shown in s.evidence.all("crt") if s.torch.version else ():
        name = re.search(r"[\w.-]+\.(?:dll|so)\b", shown.text[shown.text.find("torch") :])
        fault = s.facts.fault_of(name[0], s.torch.version) if name and s.torch.version else None
        if fault and name:
            missed, fixed = fault
            headline = f"{name[0]} of {s.torch.shown} needs {missed}, which many machines have not"
            way = fix(f"take torch {fixed}, which does not need it", f"envsolve plan torch=={fixed}")
            return finding(s, "not-torch", headline, shown=[shown], fixes=[way])
    return None


def known_message(s: Situation) -> Finding | None:
    """A known message of something else."""
    shown = next((x for x in s.evidence.symptoms if x.name in _SAID and not _of_nvidia_smi(x)), None)
    if shown is None:
        return None
    headline, way = _SAID[shown.name]
    fine = [f"{s.torch.shown} is not to blame"] if s.torch.known else []
    return finding(s, "not-torch", headline, shown=[shown], fixes=[fix(way)], fine=fine)


def _of_nvidia_smi(shown: Symptom) -> bool:
    """What nvidia-smi may not do tells of the driver, not of a file."""
    return shown.name == "access-denied" and "nvidia-smi" in shown.text


def no_triton(s: Situation) -> Finding | None:
    """torch.compile without a Triton: on Windows nothing brings one along."""
    shown = next((x for x in s.evidence.all("triton-missing") if "Cannot find a working" in x.text), None)
    if shown is None:
        return None
    package = "triton-windows" if s.machine.os == "windows" else "triton"
    version = s.facts.paired(package, s.torch.version) if s.torch.version else None
    pin = f"{package}=={version}{'.*' if package == 'triton-windows' else ''}" if version else package
    belongs = f"take the one that belongs to {s.torch.shown}" if version else "take the one that belongs to this torch"
    ways = [fix(belongs, f'pip install "{pin}"'), fix("or run without torch.compile: eager code needs no Triton")]
    fine = [f"{s.torch.shown} is not to blame"] if s.torch.known else []
    return finding(s, "not-torch", "torch.compile finds no Triton", shown=[shown], fixes=ways, fine=fine)


def saved_on_gpu(s: Situation) -> Finding | None:
    """A checkpoint of a GPU that is loaded where there is none."""
    shown = s.evidence.first("cuda-state-dict")
    if shown is None or not s.evidence.host.gpu_absent or s.machine.gpus:
        return None
    headline = "the checkpoint was saved on a GPU, and this machine has none: the set itself fits"
    way = fix('load it for the CPU: torch.load(PATH, map_location="cpu")')
    return finding(s, "not-torch", headline, shown=[shown], fixes=[way])


def expects_other_torch(s: Situation) -> Finding | None:
    """A part of torch that a package asks for and this torch has not: the package is for another release."""
    shown = s.evidence.first("torch-lacks")
    if shown is None:
        return None
    files = [module_of(f.path) for f in s.evidence.frames if f.path.endswith(".py")]
    who = next((m for m in reversed(files) if m and m not in BLAME_FAMILY), "")
    if not who:
        return None
    headline = f"{who} is written for another torch than {s.torch.shown if s.torch.known else 'the installed one'}"
    way = fix(f"take the release of {who} that goes with this torch, or the torch that it asks for")
    return finding(s, "not-torch", headline, shown=[shown], fixes=[way], certainty="medium")


def newer_torch_wanted(s: Situation) -> Finding | None:
    """A name that only another release of torch has."""
    for shown in s.evidence.all("torch-not-itself"):
        name = shown.get("name")
        if name and s.torch.known and "partially" not in shown.text:
            headline = f"the program asks for torch.{name}, which {s.torch.shown} has not: it is for another release"
            way = fix("take a torch of the release that the program asks for, or a release of the program for this one")
            return finding(s, "not-torch", headline, shown=[shown], fixes=[way], certainty="medium")
    return None


def collective(s: Situation) -> Finding | None:
    """Processes that wait for each other for too long, or a network between them that fails."""
    shown = s.evidence.first("nccl")
    if shown is None or s.served is False:
        return None
    ways = [fix("see the first rank that failed, not the last that waited", "export NCCL_DEBUG=INFO")]
    if "timeout" in shown.text:
        headline = "one process waited for the others longer than is allowed: one of them has died, or had other work"
    else:
        headline = "the processes can't talk to each other (NCCL); the build is not to blame as far as it is seen"
    ways.append(fix("try without direct access between the GPUs", "export NCCL_P2P_DISABLE=1"))
    return finding(s, "not-torch", headline, shown=[shown], fixes=ways, certainty="medium")


def no_compiler(s: Situation) -> Finding | None:
    """torch.compile on a machine without a compiler."""
    shown = s.evidence.first("inductor-compiler")
    if shown is None:
        return None
    if s.machine.os == "windows":
        way = fix("install the C++ build tools of Visual Studio, and start from their command prompt")
    else:
        way = fix("install a C compiler", "apt-get install -y gcc" if _debian(s) else "gcc --version")
    fine = [f"{s.torch.shown} is not to blame"] if s.torch.known else []
    ways = [way, fix("or run without torch.compile")]
    return finding(s, "not-torch", "torch.compile finds no C compiler", shown=[shown], fixes=ways, fine=fine)


def _debian(s: Situation) -> bool:
    return bool(re.search(r"ubuntu|debian|-slim\b|\bapt(?:-get)?\b", s.evidence.text, re.IGNORECASE))


def _raised_in(s: Situation, error: Symptom) -> str:
    """The module that an error was raised in: by the last file above it, else by the error's own name."""
    files = [f.path for f in s.evidence.frames if f.line <= error.line and f.path.endswith(".py")]
    below = [f.path for f in s.evidence.frames if f.path.endswith(".py")]
    if files or below:
        return module_of((files or below)[-1]) or (files or below)[-1]
    named = re.match(r"\s*(\w+)\.[\w.]*:", error.text)
    return named[1] if named else ""


def other_traceback(s: Situation) -> Finding | None:
    """A traceback that ends in code outside torch, while torch and the GPU go together."""
    error = s.evidence.all("error-line")[-1:]
    if not error or not s.torch.known or not works(s) or is_ill(s):
        return None
    whose = _raised_in(s, error[0])
    if not whose or whose in BLAME_FAMILY:
        return None
    headline = f"the error comes from {whose}; {s.torch.shown} and the GPU go together"
    way = fix(f"look into {whose}, leave torch as it is")
    return finding(s, "not-torch", headline, shown=error, fixes=[way], certainty="medium")


def other_module(s: Situation) -> Finding | None:
    """A module outside the torch set that is missing or has changed."""
    for shown in s.evidence.all("other-module", "other-import", "other-attribute"):
        module = shown.get("module").split(".")[0]
        if module and module not in _FAMILY:
            what = "is missing" if shown.name == "other-module" else "is another version than its caller expects"
            headline = f"the package {module} {what}; the torch set is not to blame"
            way = fix(f"install {module} in the version that the project asks for")
            return finding(s, "not-torch", headline, shown=[shown], fixes=[way], certainty="medium")
    return None


def other_install(s: Situation) -> Finding | None:
    """An install that failed for a package outside the torch set."""
    shown = s.evidence.first(*_FAILED)
    if shown is None:
        return None
    way = fix("see that package's own requirements")
    headline = "a package outside the torch set cannot be installed"
    return finding(s, "not-torch", headline, shown=[shown], fixes=[way], certainty="low")
