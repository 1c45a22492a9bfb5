"""Troubles of programs around torch, and signs that all is well."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

OTHER = table(
    ("gpu-result", r"device='cuda(?::\d+)?'|device\(type='cuda'"),
    (
        "weights-only",
        r"Weights only load failed|WeightsUnpickler error|we now require users to upgrade torch to at least",
    ),
    ("functional-tensor", r"No module named 'torchvision\.transforms\.functional_tensor'"),
    ("numba", r"\bnumba\.cuda\.[\w.]*Error|NvvmSupportError|libNVVM cannot be found"),
    (
        "slow-import",
        r"\bimport(?:ing)? torch`? (?:hangs|takes|blocks|is (?:very |so )?slow)[^\n]*"
        r"\b(?:NFS|Lustre|GPFS|network|shared)\b",
    ),
    ("jax", r"\bjaxlib\b[^\n]*(?:Error|FAILED|failed)|XlaRuntimeError"),
    ("hub", r"access a gated repo|huggingface_hub|HfHubHTTPError|GatedRepoError|LocalEntryNotFoundError"),
    (
        "ffmpeg",
        r"No such file or directory: 'ffmpeg'|appropriate backend to handle|ffmpeg(?:\.exe)?'?:? (?:is "
        r")?(?:not found|not installed|command not found)|Could not find ffmpeg|No audio backend",
    ),
    ("pkg-resources", r"No module named 'pkg_resources'|No module named 'distutils'|No module named 'setuptools'"),
    ("other-module", r"(?:ModuleNotFoundError|ImportError): No module named '?(?P<module>[A-Za-z_][\w.]*)"),
    ("other-import", r"ImportError: cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'"),
    (
        "other-attribute",
        r"AttributeError: module '(?P<module>(?!torch|triton|numpy\b)[A-Za-z_][\w.]*)' has no attribute "
        r"'(?P<name>\w+)'",
    ),
    (
        "no-device-code",
        r"has no device code compatible with CUDA arch \d+"
        r"|ggml[\w-]* was (?:compiled|built) without support for the current GPU architecture",
    ),
    ("parse-driver", r"Failed to parse NVIDIA driver version"),
    ("pynvml-deprecated", r"The pynvml package is deprecated"),
    ("typed-storage", r"TypedStorage is deprecated"),
    ("jit-slow", r"lazy(?:ly)? load|CUDA_MODULE_LOADING"),
    ("windows-long-path", r"(?:Windows )?[Ll]ong [Pp]ath|enable-long-paths"),
    (
        "inductor-compiler",
        r"Compiler: cl is not found|Failed to find C compiler|RuntimeError: Cannot find a working (?!triton)",
    ),
    ("mps-float64", r"Cannot convert a MPS Tensor to float64|MPS framework doesn't support float64"),
    ("mps-operator", r"operator '[^']+' is not currently (?:implemented|supported) (?:for|on) the MPS"),
    ("mps-memory", r"MPS backend out of memory"),
    ("forked", r"Cannot re-initialize CUDA in forked subprocess"),
    ("triton-libcuda", r"libcuda\.so cannot found"),
    ("torchcodec-missing", r"TorchCodec is required for|No module named 'torchcodec'"),
    ("bfloat16", r"Bfloat16 is only supported on GPUs with compute capability"),
    ("dataloader", r"DataLoader worker \(pid(?:\(s\))? [\d, ]+\) (?:exited unexpectedly|is killed by signal)"),
    ("newer-torch", r"PyTorch ?>= ?[\d.]+ is required but found \d[\w.+]*"),
    ("python-h", r"Python\.h: No such file"),
    ("access-denied", r"\[WinError (?:5|32)\]|Access is denied|PermissionError|Permission denied"),
    ("crt", r"vcruntime140(?:_1)?\.dll|Visual C\+\+ Redistributable|libomp140|fbgemm\.dll"),
    ("warning-only", r"\b(?:User|Future|Deprecation|Runtime)Warning\b"),
    ("traceback", r"Traceback \(most recent call last\)"),
    (
        "error-line",
        r"(?m:^)[ \t]*(?:\w+\.)*(?P<type>\w*(?:Error|Exception|Interrupt|Exit))(?::[ \t]*(?P<message>[^\n]*))?(?m:$)",
    ),
)
