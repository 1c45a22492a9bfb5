"""Accelerators in words: what their wheels bring along, what the host must have, how a program names the device."""

from __future__ import annotations

from envsolve.judge.fit import Note
from envsolve.rulebook.ways_tables import Ways


def accelerator_note(accelerator: str, ways: Ways) -> Note:
    """The note (code "accelerator") of a plan for "rocm", "xpu", "mps", …."""
    facts = ways.accelerators[accelerator]
    text = f"{facts.name}: {facts.wheel}; the host needs {facts.host}; a program names it {facts.device}"
    return Note(code="accelerator", text=text)
