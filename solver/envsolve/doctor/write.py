"""Write: a finding from a situation, with the lines that every one of them shows."""

from __future__ import annotations

from collections.abc import Iterable

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import facts_of, quoted
from envsolve.resolve.plan import Missing
from envsolve.rulebook.tables import Certainty


def fix(text: str, *commands: str) -> Fix:
    """One way out and the commands that do it."""
    return Fix(text=text, commands=commands)


def finding(
    s: Situation,
    code: str,
    headline: str,
    *,
    shown: Iterable[Symptom | None] = (),
    more: Iterable[str] = (),
    fixes: Iterable[Fix] = (),
    certainty: Certainty = "high",
    missing: Iterable[Missing] = (),
    fine: Iterable[str] = (),
    elsewhere: bool = False,
) -> Finding:
    """The finding; its evidence is the messages as printed, then `more`, then what is installed on which machine."""
    return Finding(
        code=code,
        headline=headline,
        certainty=certainty,
        evidence=tuple(dict.fromkeys([*quoted(shown), *more, *facts_of(s)])),
        fixes=tuple(fixes),
        missing=tuple(missing),
        fine=tuple(fine),
        elsewhere=elsewhere,
    )
