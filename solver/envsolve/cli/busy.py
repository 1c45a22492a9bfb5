"""Busy: one moving line on a terminal that shows what is going on and for how long; nothing elsewhere.

A download has a bar with speed and time left there, and elsewhere a line every few seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from envsolve.cli import talk

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

_WIDTH = 90
_SECONDS_BETWEEN_LINES = 5.0


class Busy:
    """Use as a context manager; `say` prints a line above, `line` is what a tool just said."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._began = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None
        self._pace: _Pace | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Busy:
        if sys.stderr.isatty() and talk.level() == 1:
            from rich.console import Console

            self._status = Console(stderr=True).status("starting", spinner="line")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_bar()
        if self._status:
            self._status.stop()

    def progress(self, done: int, total: int) -> None:
        """So many bytes of so many are here. May be called from any thread."""
        with self._lock:
            if self._status:
                self._show_bar(done, total)
            elif talk.level() >= 1:
                self._pace = self._pace or _Pace(done)
                self._pace.tell(done, total)

    def _show_bar(self, done: int, total: int) -> None:
        if self._bar is None:
            assert self._status
            self._status.stop()
            self._bar = _new_bar(done, total)
        bar, task = self._bar
        bar.update(task, completed=done, total=total)

    def _end_bar(self) -> None:
        with self._lock:
            if self._bar:
                self._bar[0].stop()
                self._bar = None
                if self._status:
                    self._status.start()

    def say(self, text: str) -> None:
        self._end_bar()
        talk.say(text)
        self._show(text)

    def line(self, text: str) -> None:
        self._end_bar()
        talk.detail(text)
        self._show(text)

    def _show(self, text: str) -> None:
        if self._status and text.strip():
            from rich.markup import escape

            minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
            self._status.update(escape(f"{minutes}:{seconds:02d}  {text.strip()[:_WIDTH]}"))


class _Pace:
    """Says every few seconds how far a download is, where there is no terminal to draw on."""

    def __init__(self, done: int) -> None:
        self._first = done
        self._began = self._said = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            talk.say(pace_line(done, total, speed=(done - self._first) / (now - self._began)))


def pace_line(done: int, total: int, *, speed: float) -> str:
    """How far a download is, in bytes and bytes a second: "1.2 of 3.0 GB, 85 MB/s, 0:21 left"."""
    if speed <= 0:
        return f"{done / 1e9:.1f} of {total / 1e9:.1f} GB"
    minutes, seconds = divmod(round((total - done) / speed), 60)
    return f"{done / 1e9:.1f} of {total / 1e9:.1f} GB, {speed / 1e6:.0f} MB/s, {minutes}:{seconds:02d} left"


def _new_bar(done: int, total: int) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    bar = Progress(
        BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(), console=Console(stderr=True)
    )
    bar.start()
    return bar, bar.add_task("fetching", completed=done, total=total)
