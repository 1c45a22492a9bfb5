"""A plan's other requirements, looked up at the indexes in a short while or not at all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from envsolve.errors import OutsideError
from envsolve.record import replace

if TYPE_CHECKING:
    from packaging.version import Version

    from envsolve.index.release import ReleaseFile, WheelMetadata
    from envsolve.resolve.plan import Answer, Plan
    from envsolve.resolve.protocol import Index
    from envsolve.settings import Settings

_PATIENCE = 45.0  # seconds for all of it: a plan answers from the rules, the rest is a courtesy
_TIMEOUT = 4.0  # seconds for one request


def looked_up(plan: Plan, settings: Settings) -> Answer:
    """The answer with what the indexes say of the other requirements; the plan as it is where they say nothing."""
    from envsolve.cli.busy import Busy
    from envsolve.index.package_index import open_index
    from envsolve.lock.looked_up import look_up
    from envsolve.rulebook.load import load

    hasty = replace(settings, timeout=min(settings.timeout, _TIMEOUT), retries=0)
    with Busy() as busy, open_index(hasty, python=plan.python, platform=plan.machine.platform, sdists=True) as index:
        busy.line("asking the indexes for the other requirements")
        return look_up(plan, _Hasty(index, until=time.monotonic() + _PATIENCE), load())


class _Hasty:
    """An Index that gives up at a time of the monotonic clock."""

    def __init__(self, index: Index, *, until: float) -> None:
        self._index = index
        self.warnings = index.warnings
        self._until = until

    def _hurry(self) -> None:
        if time.monotonic() > self._until:
            raise OutsideError(f"the indexes took more than {_PATIENCE:.0f} s")

    def files(self, name: str, *, variant: str | None = None, version: Version | None = None) -> Sequence[ReleaseFile]:
        self._hurry()
        return self._index.files(name, variant=variant, version=version)

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        self._hurry()
        return self._index.metadata(file)

    def hash_file(self, file: ReleaseFile) -> str:
        return self._index.hash_file(file)

    def prefetch(self, names: Sequence[str]) -> None:
        self._index.prefetch(names)

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        self._index.prefetch_metadata(files)
