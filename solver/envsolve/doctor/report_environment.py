"""Environment variables that a text shows: echoed, exported, listed, set in code or in a Dockerfile. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envsolve.doctor.report_blocks import Block
from envsolve.regex import regex

NAMES = (
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_HOME", "CUDA_PATH", "PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME",
    "TORCH_CUDA_ARCH_LIST", "NVIDIA_DRIVER_CAPABILITIES", "HSA_OVERRIDE_GFX_VERSION", "CONDA_OVERRIDE_CUDA",
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_TORCH_BACKEND", "CONDA_PREFIX",
    "VIRTUAL_ENV", "BNB_CUDA_VERSION", "SLURM_JOB_ID", "SLURM_JOB_GPUS",
)  # fmt: skip
_NAME = "|".join(NAMES)
_VALUE = r"(\"[^\"\n]*\"|'[^'\n]*'|\d+(?:,\d+)+|[^\s\"'`,;)\]}]*)"
_SET = regex(rf"(?<![\w$%{{])(?:\$env:)?({_NAME})\s?=\s?{_VALUE}", re.IGNORECASE)
_CODE = regex(rf"environ(?:\.setdefault\(|\[)\s*['\"]({_NAME})['\"]\s*(?:\]\s*=|,)\s*['\"]([^'\"\n]*)['\"]")
_ASKED = regex(rf"(?:environ(?:\.get\(|\[)|getenv\()\s*['\"]({_NAME})['\"]")
_TOLD = regex(rf"environ\[['\"]({_NAME})['\"]\]:\s*([\w,-]+)\s*$")
_ECHO = regex(rf"^(?:echo|printenv)\s+[\"']?[$%]?\{{?({_NAME})\}}?%?[\"']?\s*$")
_SHOWN = regex(rf"^\s*(?:-\s+)?[\"']?({_NAME})[\"']?\s*(?::|\s{{2,}})\s*{_VALUE}\s*$")
_UNSET = regex(rf"\bunset\s+({_NAME})\b")
_REPR = regex(r"^\s*['\"](.*)['\"]\s*$")


def environment(text: str, found: Iterable[Block]) -> dict[str, str]:
    """The variables as last shown; one that was unset is not there."""
    state: dict[str, str] = {}
    for _, name, value in sorted([*_in_lines(text), *_asked(found)], key=lambda row: row[0]):
        if value is None:
            state.pop(name, None)
        else:
            state[name] = value
    return state


def _in_lines(text: str) -> Iterator[tuple[int, str, str | None]]:
    for number, line in enumerate(text.split("\n"), 1):
        for match in _UNSET.finditer(line):
            yield number, match[1], None
        told = _TOLD.search(line)
        if told and told[2] != "None":
            yield number, told[1], told[2]
        for pattern in (_CODE, _SET, _SHOWN):
            for match in pattern.finditer(line):
                yield number, match[1].upper(), match[2].strip("\"'")


def _asked(found: Iterable[Block]) -> Iterator[tuple[int, str, str]]:
    """Variables that somebody printed. An empty echo says nothing: the variable may be empty or not there."""
    for block in found:
        first = next((line for line in block.output if line.strip()), "")
        if (match := _ECHO.match(block.command)) and first and not first.startswith("%"):
            yield block.line, match[1], first.strip()
        elif block.kind == "python" and (match := _ASKED.search(block.command)):
            shown = _REPR.match(first)
            if shown:
                yield block.line, match[1], shown[1]
