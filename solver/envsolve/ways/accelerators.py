"""The right wheel for each accelerator, in words: its index, what it brings along, what the host must have."""

from __future__ import annotations

from envsolve.addresses import PYTORCH_INDEX
from envsolve.judge.fit import Note
from envsolve.rulebook.tables import Build
from envsolve.rulebook.ways_tables import Ways


def explanation(build: Build, ways: Ways, *, source: str = "pytorch") -> tuple[str, ...]:
    """The lines for a build: its place, its content, its host, and how a program uses it.

    `source` "pypi": the plain wheel of the default Python index is meant.
    """
    facts = ways.accelerators[build.accelerator]
    place = "the default Python index" if source == "pypi" else f"{PYTORCH_INDEX}/{build.folder}"
    return (
        f"{facts.name}: torch {build.torch} from {place}",
        facts.wheel,
        f"the host has: {facts.host}",
        f"in a program: {facts.device}",
    )


def note(build: Build, ways: Ways) -> Note:
    """The same as one note of a plan (code "accelerator"), with its source."""
    facts = ways.accelerators[build.accelerator]
    return Note(code="accelerator", text=f"{facts.name}: {facts.wheel}; host: {facts.host} (source: {facts.source})")
