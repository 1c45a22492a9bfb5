"""envsolve: the PyTorch build that runs on this GPU and driver, planned, locked, installed and proven.

The public API is in envsolve.api; its names are here too and load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envsolve.api import (
        Answer,
        Check,
        Environment,
        EnvsolveError,
        Gpu,
        InputError,
        Lock,
        Locked,
        Machine,
        NeedsInput,
        NoPlan,
        OutsideError,
        Plan,
        RefusedError,
        Report,
        Settings,
        detect,
        install,
        load_settings,
        lock,
        plan,
        verify,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Check",
    "Environment",
    "EnvsolveError",
    "Gpu",
    "InputError",
    "Lock",
    "Locked",
    "Machine",
    "NeedsInput",
    "NoPlan",
    "OutsideError",
    "Plan",
    "RefusedError",
    "Report",
    "Settings",
    "detect",
    "install",
    "load_settings",
    "lock",
    "plan",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'envsolve' has no attribute {name!r}")
    from envsolve import api

    return getattr(api, name)
