"""Marker: the file inside an environment that says envsolve made it, from what, and whether it was proven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from envsolve.environment.pointer import write_atomically
from envsolve.environment.proof import Proof
from envsolve.record import names_of, record, replace

MARKER = "envsolve.json"
LOCK_COPY = "envsolve-lock.txt"
SCHEMA = 1

Stage = Literal["building", "verified", "unverified", "failed"]


@record
class Marker:
    """What is known of one build. `plan` and `report` are JSON objects, kept for people and `--json`, or None.

    `name` is the environment's name, or the project folder's name for --path. `asked` are the words of the command line
    that an upgrade repeats, `project` the folder of the user's own project in it, `conda` what made its Python and
    `channels` (without credentials) where that came from.
    """

    name: str
    stage: Stage
    python: str
    platform: str
    variant: str
    torch: str
    lock_sha256: str
    made_by: str
    plan: Mapping[str, Any] | None = None
    report: Mapping[str, Any] | None = None
    size_bytes: int | None = None
    asked: tuple[str, ...] = ()
    project: str = ""
    conda: str = ""
    channels: tuple[str, ...] = ()

    def with_proof(self, proof: Proof) -> Marker:
        """The marker after verification."""
        return replace(self, stage="verified" if proof.verified else "failed", report=proof.report)


def write_marker(build: Path, marker: Marker) -> None:
    """Put the marker into a build, replacing an older one in one step."""
    write_atomically(
        build / MARKER,
        json.dumps({"schema": SCHEMA, **{name: getattr(marker, name) for name in names_of(marker)}}, indent=2) + "\n",
    )


def read_marker(build: Path) -> Marker | None:
    """The marker of a build; None when the folder holds none that can be read, so isn't known to be envsolve's."""
    try:
        said = json.loads((build / MARKER).read_text(encoding="utf-8"))
        if said.pop("schema") != SCHEMA:
            return None
        known = [name for name in names_of(Marker) if name in said]  # a newer envsolve may say more
        lists = {name: tuple(said[name]) for name in ("asked", "channels") if name in said}
        return Marker(**{**{name: said[name] for name in known}, **lists})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
