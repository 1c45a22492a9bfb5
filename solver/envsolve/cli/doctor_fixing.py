"""`envsolve doctor --fix`: what to do about a finding, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from envsolve.cli import talk

if TYPE_CHECKING:
    from envsolve.cli.doctor_fix import Wish
    from envsolve.doctor.finding import Finding
    from envsolve.doctor.look_place import Place
    from envsolve.doctor.situation import Situation
    from envsolve.settings import Settings


def fixing(
    place: Place,
    situation: Situation,
    finding: Finding,
    wish: Wish,
    settings: Settings,
    *,
    again: Callable[[], Finding],
) -> int:
    """Tell the finding and fix what it names; `again` looks at the environment once more. The exit code.

    Raises RefusedError where nothing was made; the finding has been told by then.
    """
    from envsolve.cli.doctor_fix import Ill, fixed, slot_here
    from envsolve.errors import EnvsolveError

    if not wish.as_json:
        _tell(finding)
    if finding.status == "healthy":
        _nothing_to_do(finding, wish)
        return 0
    ours = slot_here(place)
    try:
        if wish.in_place and ours is None:
            return _mended(place, situation, finding, wish, settings, again)
        made = fixed(Ill(place=place, situation=situation, finding=finding, ours=ours), wish, settings)
    except EnvsolveError as error:
        if wish.as_json:
            _print(finding, {"made": None, "error": error.message, "hint": error.hint})
        raise
    if wish.as_json:
        _print(finding, made)
    return 0


def _nothing_to_do(finding: Finding, wish: Wish) -> None:
    talk.say("nothing is wrong with it, so nothing was made")
    if wish.as_json:
        _print(finding, {"made": None})


def _mended(
    place: Place,
    situation: Situation,
    finding: Finding,
    wish: Wish,
    settings: Settings,
    again: Callable[[], Finding],
) -> int:
    """A foreign environment, by its own installer; the exit code is that of a second look."""
    from envsolve.cli.doctor_in_place import mend

    variant = situation.torch.variant or ""
    commands = mend(place.interpreter, finding, settings, variant=variant, yes=wish.yes)
    after = again()
    if wish.as_json:
        _print(after, {"made": None, "before": finding.code, "ran": list(commands)})
    else:
        _tell(after)
    return 0 if after.status == "healthy" else 1


def _tell(finding: Finding) -> None:
    from envsolve.doctor.as_text import as_text

    print(as_text(finding))


def _print(finding: Finding, fix: dict[str, Any]) -> None:
    from envsolve.doctor.as_json import as_json

    print(json.dumps({**as_json(finding), "fix": fix}, ensure_ascii=False))
