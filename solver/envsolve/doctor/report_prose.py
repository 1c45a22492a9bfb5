"""Prose: a text without the set phrases of torch, images and installers, which speak of GPUs that need not be there."""

from __future__ import annotations

import re

from envsolve.regex import regex

_PHRASES = regex(
    r"Please check that you\s+have an NVIDIA GPU and installed a driver|Found no NVIDIA driver on your system"
    r"|(?:The )?NVIDIA driver on your system is too old|Please update your GPU driver[^\n]*|nvidia\.com/Download[^\n]*"
    r"|The NVIDIA Driver was not detected|GPU functionality will not be available|to start this container with "
    r"GPU support"
    r"|If you want to use the [^\n]{3,80}? GPU with PyTorch[^\n]*|Make sure that the latest NVIDIA driver is "
    r"installed and running"
    r"|Copyright \(c\)[^\n]*|compiled with your version\s+of the CUDA driver|hyperlink[^\n]*|Some Intel GPUs[^\n]*"
    r"|if you are on a CPU-only machine[^\n]*|If you are running on a CPU-only machine[^\n]*"
    r"|Could not find cuda drivers on your machine[^\n]*",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """The text with the set phrases blanked out; lines keep their numbers."""
    return _PHRASES.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
