"""Report: what verification checked, what it expected and what it saw."""

from __future__ import annotations

from typing import Literal

from envsolve.record import record

Outcome = Literal["passed", "failed", "skipped"]


@record
class Check:
    """One check. `hint` says what to do when it failed; a skipped check says why in `seen`."""

    name: str
    outcome: Outcome
    expected: str
    seen: str
    hint: str = ""
    seconds: float = 0.0


@record
class Report:
    """All checks of one environment. Verified means: no check failed and the computation on every device ran.

    `static` reports left out all that needs a GPU: at best they `passed`, they never prove.
    """

    environment: str
    python: str
    torch: str
    checks: tuple[Check, ...]
    static: bool = False

    @property
    def passed(self) -> bool:
        """No check failed, and something was computed."""
        computed = any(c.name.startswith("compute") and c.outcome == "passed" for c in self.checks)
        return computed and all(c.outcome != "failed" for c in self.checks)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.name for check in self.checks if check.outcome == "failed")

    @property
    def verified(self) -> bool:
        return self.passed and not self.static
