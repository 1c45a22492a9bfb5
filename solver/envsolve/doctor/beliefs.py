"""Beliefs: what a text takes for true and is not, put right where it matters for the finding. Pure; rules/ways has the
words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.record import record, replace

_FINE = ("ok", "harmless-warning")
_MOST = 2  # more would bury the finding


@record
class Sign:
    """The words that show a belief of the rules, and the codes of findings to which it matters (() = all)."""

    belief: str
    words: re.Pattern[str]
    codes: tuple[str, ...] = ()


def _sign(belief: str, words: str, *codes: str) -> Sign:
    return Sign(belief=belief, words=re.compile(words, re.IGNORECASE), codes=codes)


_MATCH = r"\b(?:match\w*|mismatch\w*|differ\w*)\b"
# What the causes say themselves is not here: is_available(), Windows' default index, WSL, containers, NGC, HSA, the
# library path.
_SIGNS = (
    _sign("arch_list_at_run", r"TORCH_CUDA_ARCH_LIST", *_FINE, "no-kernels"),
    _sign("tuple_in_arch_list", r"(?:capability\w*\([^)]*\)|\(\d+, ?\d+\)) in torch", *_FINE, "no-kernels"),
    _sign("rtx50_is_8x", r"RTX ?50\d\d\b[^\n]{0,60}\bsm_(?:8\d|100)\b", "no-kernels"),
    _sign(
        "sm89_missing",
        r"sm_\d+\b[^\n]{0,40}\b(?:missing|not in|isn't|absent)|\b(?:missing|lacks?|without|no) sm_\d+",
        *_FINE,
    ),
    _sign("ptx_future", r"\bPTX\b|forward.compatib", "no-kernels"),
    _sign("newest_cuda_wheel", r"\b(?:newe(?:st|r)|latest)\b[^\n]{0,40}\b(?:cu\d{3}|CUDA|torch|wheel)", "no-kernels"),
    _sign(
        "smi_cuda_is_toolkit",
        r"nvidia-smi[^\n]{0,60}\b(?:installed|toolkit|nvcc)|CUDA Version[^\n]{0,60}\b(?:installed|nvcc)",
        *_FINE, "cpu-build", "unknown",
    ),
    _sign(
        "wheel_must_match",
        rf"(?-i:CUDA|nvidia-smi)[^\n]{{0,60}}{_MATCH}|{_MATCH}[^\n]{{0,60}}(?-i:CUDA|nvidia-smi)",
        *_FINE,
    ),
    _sign("cuda127", r"\bcu127\b", "no-wheel", "index-problem"),
    _sign("conda_cudatoolkit", r"conda install[^\n]*\b(?:cudatoolkit|cuda-toolkit)\b", *_FINE, "cpu-build"),
    _sign("toolkit_for_wheels", r"\bnvcc\b|\btoolkit\b", *_FINE, "cpu-build"),
    _sign(
        "system_cudnn",
        r"\b(?:install|download|unpack|cop[yi])\w*\b[^\n]{0,30}\bcuDNN\b|\bcuDNN\b[^\n]{0,60}(?:\bmatch|mismatch|/usr/)",
        *_FINE, "cpu-build", "driver-too-old",
    ),
    _sign(
        "extra_index", r"--extra-index-url[ =]\S*/whl/cu\d+",
        *_FINE, "driver-too-old", "no-kernels", "cpu-build", "variant-mismatch", "build-replaced",
    ),
    _sign("conda_channel", r"conda install[^\n]*-c pytorch\b", *_FINE, "no-kernels", "no-wheel", "index-problem"),
    _sign("latest_driver", r"\b(?:newe(?:st|r)|latest)\b[^\n]{0,20}\bdriver", "driver-too-new"),
    _sign("smi_query_cuda", r"Field \"?cuda_version\"? is not a valid field"),
    _sign(
        "flash_attn_wheel", r"(?:pip install|Building wheel for|Failed to build)[^\n]*\bflash[-_]attn\b",
        "unknown", "foreign-extension", "not-torch",
    ),
    _sign("vllm_index", r"vllm[^\n]*--torch-backend|--torch-backend[^\n]*vllm", *_FINE, "foreign-extension"),
    _sign("compat_geforce", r"cuda-compat|/compat\b", "driver-library-mismatch", "driver-too-old"),
    _sign("arch_list_rocm", r"get_arch_list\(\)\s*\n?\[?[^\n]*gfx", "no-kernels"),
)  # fmt: skip


def signed() -> tuple[str, ...]:
    """The ids of the beliefs that are put right here."""
    return tuple(sign.belief for sign in _SIGNS)


def with_truths(found: Finding, s: Situation) -> Finding:
    """The finding with what the text gets wrong, where the finding does not say so itself."""
    told = [f"not so: {belief}. {truth}" for belief, truth in _wrong(found, s)][:_MOST]
    return replace(found, fine=(*found.fine, *told)) if told else found


def _wrong(found: Finding, s: Situation) -> Iterator[tuple[str, str]]:
    text = s.evidence.text
    for sign in _SIGNS:
        if (not sign.codes or found.code in sign.codes) and sign.words.search(text):
            row = s.facts.belief(sign.belief)
            yield _within_a_line(row[0]), row[1]


def _within_a_line(belief: str) -> str:
    """A sentence after a colon: a name such as RTX keeps its capitals."""
    return belief if belief[1:2].isupper() else belief[:1].lower() + belief[1:]
