"""The PyTorch index itself, replaced: what stands behind every mirror."""

from __future__ import annotations

import pytest

from envsolve.cli.options import Sources
from envsolve.record import replace
from envsolve.settings import Settings


def serve_as_pytorch_index(monkeypatch: pytest.MonkeyPatch, whl: str) -> None:
    """Let commands ask `whl` where they would ask the PyTorch index."""
    settings = Sources.settings

    def replaced(sources: Sources) -> Settings:
        return replace(settings(sources), pytorch_index=whl)

    monkeypatch.setattr(Sources, "settings", replaced)
