"""Child: run steps inside the environment, in a process of their own with a time limit.

A child tells each step's start and end. When it dies or hangs, the step under way is the one to blame; the steps after
a crash run in a fresh child, the steps after a hang don't run.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, Literal

from envsolve.record import field, record
from envsolve.verify.steps import IMPORT, Step

_SENTINEL = "@envsolve "
_MAX_TEXT = 600
End = Literal["value", "skipped", "raised", "crashed", "hung", "not run"]


@record
class Ended:
    """How a step ended: with a value (JSON), or with a text that says why there is none; seconds it took."""

    step: str
    end: End
    value: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    seconds: float = 0.0


@record
class Order:
    """What a child is to do. `env` is laid over this process's environment; `options` goes to every step."""

    interpreter: Path
    steps: Sequence[Step]
    timeout_s: float
    torch: bool = True
    device: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


def run(order: Order, started: Callable[[str], None] = lambda step: None) -> tuple[Ended, ...]:
    """One Ended for each step of the order, in order; an `import torch` that fails comes first and ends it all.

    `started` hears the name of each step as it begins.
    """
    done: list[Ended] = []
    pending = list(order.steps)
    while pending:
        told, death = _one_child(order, pending, started)
        done += [end for end in told if end.step != IMPORT or end.end != "value"]
        names = [end.step for end in told]
        pending = [step for step in pending if step.name not in names]
        if death is not None:
            done.append(death)
            pending = [step for step in pending if step.name != death.step]
        stop = next((end for end in done if end.end == "hung" or end.step == IMPORT), None)
        if stop:
            done += [Ended(step=step.name, end="not run", text=f"not run: {stop.step} {stop.end}") for step in pending]
            break
    return tuple(done)


def _one_child(order: Order, steps: Sequence[Step], started: Callable[[str], None]) -> tuple[list[Ended], Ended | None]:
    """What one child told, and its death: the step that it died or hung in, None when it ended by itself."""
    with tempfile.TemporaryFile() as chatter:
        try:
            process = _start(order, steps, chatter)
        except OSError as error:
            return [], Ended(step=IMPORT, end="crashed", text=f"can't start {order.interpreter}: {error.strerror}")
        ears = _Ears(started)
        with process:
            hung = not ears.listen(process, order.timeout_s)
        if ears.said_bye or (not hung and process.returncode == 0 and ears.ended_by_itself()):
            return ears.told, None
        chatter.seek(0)
        last = _last_words(chatter.read()[-4000:].decode(errors="replace"), ears.garbage)
        return ears.told, _death(order, steps, ears, process.returncode, hung, last)


def _death(order: Order, steps: Sequence[Step], ears: _Ears, code: int, hung: bool, last: str) -> Ended:
    heard = {end.step for end in ears.told}
    order_of_steps = ([IMPORT] if order.torch else []) + [step.name for step in steps]
    culprit = ears.under_way or next((name for name in order_of_steps if name not in heard), steps[-1].name)
    if hung:
        return Ended(
            step=culprit, end="hung", text=f"no answer within {order.timeout_s:g} s{last}", seconds=order.timeout_s
        )
    return Ended(step=culprit, end="crashed", text=f"the process {_how(code)}{last}", seconds=ears.since_start())


class _Ears:
    """Listens to a child's events in a thread, so that silence can be timed."""

    def __init__(self, started: Callable[[str], None]) -> None:
        self.told: list[Ended] = []
        self.under_way = ""
        self.said_bye = False
        self.garbage = ""
        self._started = started
        self._began = time.monotonic()

    def listen(self, process: subprocess.Popen[str], timeout_s: float) -> bool:
        """Hear everything until the child ends. False when it had to be ended."""
        assert process.stdout is not None
        thread = threading.Thread(target=self._hear_all, args=(process.stdout,), daemon=True)
        thread.start()
        try:
            process.wait(timeout_s)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            # What the child itself started may hold the pipe open, also when the child has ended.
            end_group(process)
            process.wait()
            thread.join(timeout=5)

    def ended_by_itself(self) -> bool:
        """It broke off between steps: after an import that failed, or an error that leaves CUDA unusable."""
        return not self.under_way and any(end.step != IMPORT or end.end != "value" for end in self.told)

    def since_start(self) -> float:
        return time.monotonic() - self._began

    def _hear_all(self, stream: IO[str]) -> None:
        with contextlib.suppress(ValueError, OSError):  # the stream is closed under us when a child is ended
            for line in stream:
                _, found, event = line.partition(_SENTINEL)
                if found:
                    self._hear(event)
                elif line.strip():
                    self.garbage = (self.garbage + line)[-_MAX_TEXT:]

    def _hear(self, line: str) -> None:
        try:
            event = json.loads(line)
            kind, step = event["event"], event.get("step", "")
        except (ValueError, KeyError, TypeError, AttributeError):
            self.garbage = (self.garbage + line)[-_MAX_TEXT:]
            return
        if kind == "start":
            self.under_way, self._began = step, time.monotonic()
            self._started(step)
        elif kind == "end":
            self.under_way = ""
            self.told.append(_ended(step, event))
        elif kind == "bye":
            self.said_bye = True


def _ended(step: str, event: Mapping[str, Any]) -> Ended:
    seconds = float(event.get("seconds", 0.0))
    for end in ("skipped", "raised"):
        if end in event:
            return Ended(step=step, end=end, text=str(event[end]), seconds=seconds)
    value = event.get("value")
    if not isinstance(value, dict):
        return Ended(step=step, end="raised", text=f"an answer that can't be read: {value!r}"[:_MAX_TEXT])
    return Ended(step=step, end="value", value=value, seconds=seconds)


def _start(order: Order, steps: Sequence[Step], chatter: IO[bytes]) -> subprocess.Popen[str]:
    asked = {
        "steps": [[step.name, step.call] for step in steps],
        "torch": order.torch,
        "device": order.device,
        "options": dict(order.options),
    }
    probe = str(files("envsolve") / "verify" / "probes" / "child.py")
    return subprocess.Popen(
        [str(order.interpreter), "-I", probe, json.dumps(asked)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=chatter,
        env={**_surroundings(), **order.env},
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=os.name != "nt",
    )


def _surroundings() -> dict[str, str]:
    """This process's environment without what leads Python elsewhere (-I ignores it; what a probe starts does not)."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTHONHOME"))}


def end_group(process: subprocess.Popen[str]) -> None:
    """End the child and everything that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _how(code: int) -> str:
    """How a process ended, in words: "was killed by SIGSEGV", "ended with exit code 3"."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _last_words(stderr: str, garbage: str) -> str:
    """The last line of what it said on stderr, else on stdout, as the end of a sentence."""
    lines = [line.strip() for text in (garbage, stderr) for line in text.splitlines() if line.strip()]
    return f": {lines[-1][:_MAX_TEXT]}" if lines else ""
