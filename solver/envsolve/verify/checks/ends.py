"""Turn the end of a step into a check, when the step gave no facts to judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from envsolve.verify.child import Ended
from envsolve.verify.hints import hint_for
from envsolve.verify.report import Check

Facts = TypeVar("Facts")


def unhappy(name: str, ended: Ended, expected: str) -> Check:
    """The check of a step that was skipped, or that raised, crashed or hung."""
    if ended.end in ("skipped", "not run"):
        return Check(name=name, outcome="skipped", expected=expected, seen=ended.text, seconds=ended.seconds)
    seen = ended.text if ended.end == "raised" else f"{ended.end}: {ended.text}"
    return Check(
        name=name, outcome="failed", expected=expected, seen=seen, hint=hint_for(ended.text), seconds=ended.seconds
    )


def read(ended: Ended, reader: Callable[..., Facts]) -> Facts | Ended:
    """The facts of a step, or the end that took their place (also when the answer can't be read)."""
    if ended.end != "value":
        return ended
    try:
        return reader(ended.value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        text = f"an answer that can't be read ({type(error).__name__}: {error}): {str(dict(ended.value))[:200]}"
        return Ended(step=ended.step, end="raised", text=text, seconds=ended.seconds)
