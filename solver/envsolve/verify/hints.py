"""What to do about an error text, for the errors that people meet."""

from __future__ import annotations

import re

_REINSTALL = "install the set that belongs together: envsolve install --name NAME"
_NEW_PLAN = "choose a build that has code for this GPU: envsolve plan"

# The first pattern that is found in the text decides.
_HINTS: tuple[tuple[str, str], ...] = (
    (r"no kernel image|invalid device function|unsupported toolchain", _NEW_PLAN),
    (r"driver on your system is too old|CUDA driver version is insufficient", "envsolve plan chooses for your driver"),
    (r"out of memory", "free the GPU's memory: nvidia-smi shows who uses it; then: envsolve verify"),
    (r"operator torchvision::|undefined symbol|Could not load this library|compiled with .*different", _REINSTALL),
    (r"lib(cudart|cublas|cudnn|nccl|cufft|cusparse|nvrtc|nvJitLink)[\w.-]*\.so|DLL load failed", _REINSTALL),
    (r"GLIBC(XX)?_[\d.]+' not found", "this system's C library is too old for the wheel: envsolve plan"),
    (r"_ARRAY_API|numpy\.core\.multiarray|compiled using NumPy 1", 'install an older numpy: pip install "numpy<2"'),
    (r"SIGILL", "this CPU lacks instructions that the build uses: envsolve plan with an older torch"),
    (r"SIGKILL", "something killed the process, most often for lack of memory: free some, then envsolve verify"),
    (r"SIGSEGV|SIGABRT|SIGBUS", "a library in the environment is broken or doesn't match: " + _REINSTALL),
    (
        r"no answer within",
        "is the GPU busy or hung? nvidia-smi; a longer limit: envsolve verify --timeout 900",
    ),
    (r"ModuleNotFoundError|No module named", _REINSTALL),
)


def hint_for(text: str, default: str = _REINSTALL) -> str:
    """The hint for an error text; `default` where the text is not a known one."""
    return next((hint for pattern, hint in _HINTS if re.search(pattern, text, re.IGNORECASE)), default)
