"""Busy: one moving line on a terminal that shows what is going on and for how long; nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from envsolve.cli import talk

if TYPE_CHECKING:
    from rich.status import Status

_WIDTH = 90


class Busy:
    """Use as a context manager; `say` prints a line above, `line` is what a tool just said."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._began = time.monotonic()

    def __enter__(self) -> Busy:
        if sys.stderr.isatty() and talk.level() == 1:
            from rich.console import Console

            self._status = Console(stderr=True).status("starting", spinner="line")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def say(self, text: str) -> None:
        talk.say(text)
        self._show(text)

    def line(self, text: str) -> None:
        talk.detail(text)
        self._show(text)

    def _show(self, text: str) -> None:
        if self._status and text.strip():
            from rich.markup import escape

            minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
            self._status.update(escape(f"{minutes}:{seconds:02d}  {text.strip()[:_WIDTH]}"))
