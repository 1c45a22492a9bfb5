"""Write .envsolve.toml: only what is said, in a fixed order."""

from __future__ import annotations

from typing import Any

from envsolve.keeping.declared import SCHEMA, Declared, DeclaredTarget
from envsolve.lock.toml_text import toml_text

_HEAD = """\
# What this project must run on, and the locks that answer it. Made by envsolve init; edit it as you like.
# `envsolve check` holds the locks to it.
"""


def declared_text(declared: Declared) -> str:
    """The text of the file; it reads back as the same Declared."""
    top: dict[str, Any] = {"schema": SCHEMA, "requirements": list(declared.requirements)}
    for key in ("constraints", "extras", "groups", "locks", "variants"):
        if found := getattr(declared, key):
            top[key] = list(found)
    if declared.sdists:
        top["sdists"] = True
    return _HEAD + toml_text({**top, "targets": [_target(target) for target in declared.targets]})


def _target(target: DeclaredTarget) -> dict[str, Any]:
    found: dict[str, Any] = {"machine": target.machine}
    if target.locks:
        found["locks"] = list(target.locks)
    if target.variants:
        found["variants"] = list(target.variants)
    if target.gpus != "all":
        found["gpus"] = target.gpus
    return found
