"""verify(): prove an environment, each group of checks in a child process inside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from envsolve.verify import steps
from envsolve.verify.checks import build as build_checks
from envsolve.verify.checks import driver as driver_checks
from envsolve.verify.checks import packages
from envsolve.verify.checks.compute import compute
from envsolve.verify.checks.ends import read, unhappy
from envsolve.verify.child import Ended, Order, run
from envsolve.verify.expected import Expected
from envsolve.verify.facts import BuildFacts, Device, DriverFacts, Survey
from envsolve.verify.report import Check, Report

Progress = Callable[[str], None]


def verify(
    interpreter: Path,
    expected: Expected,
    *,
    timeout_s: float = 300,
    static: bool = False,
    progress: Progress | None = None,
    environment: str = "",
) -> Report:
    """Check an environment against what was promised; failures are values in the report, never exceptions.

    `timeout_s` bounds each child process; `static` leaves out all that needs a GPU; `progress` hears a line per step.
    """
    session = _Session(interpreter, expected, timeout_s, static, progress or (lambda line: None))
    session.run()
    return Report(
        environment=environment or str(interpreter.parent.parent),
        python=session.survey.python if session.survey else "",
        torch=session.survey.versions().get("torch", "") if session.survey else "",
        checks=tuple(session.checks),
        static=static,
    )


def survey_of(interpreter: Path, *, timeout_s: float = 60) -> Survey | Ended:
    """What is installed beside an interpreter, without importing it; the Ended says why nothing could be learnt."""
    ended = run(Order(interpreter=interpreter, steps=(steps.SURVEY,), timeout_s=timeout_s, torch=False))
    return read(ended[0], Survey.from_json)


class _Session:
    """One verification under way: the checks so far, and what later checks need of earlier ones."""

    def __init__(
        self, interpreter: Path, expected: Expected, timeout_s: float, static: bool, progress: Progress
    ) -> None:
        self.interpreter = interpreter
        self.expected = expected
        self.timeout_s = timeout_s
        self.static = static
        self.progress = progress
        self.checks: list[Check] = []
        self.survey: Survey | None = None

    def run(self) -> None:
        if not self._installed():
            return
        on_cpu = self.static or self.expected.device == "cpu"
        devices = self._import_and_build(compute_too=on_cpu)
        for device in devices:
            self._compute(device)

    def _installed(self) -> bool:
        """What is installed; False when the interpreter itself doesn't work."""
        self.progress("installed versions")
        began = time.monotonic()
        found = survey_of(self.interpreter, timeout_s=self.timeout_s)
        seconds = time.monotonic() - began
        if isinstance(found, Ended):
            self.checks.append(unhappy("interpreter", found, f"Python {self.expected.python} that answers"))
            return False
        self.survey = found
        self.checks.append(replace(packages.interpreter(found, self.expected), seconds=seconds))
        self.checks += [
            packages.versions(found, self.expected),
            packages.torch_files(found),
            packages.requirements(found),
        ]
        return True

    def _import_and_build(self, *, compute_too: bool) -> tuple[Device, ...]:
        """Import torch and look at the build; what needs no GPU is computed in the same child (one import of torch)."""
        wanted = [steps.BUILD] + (list(steps.COMPUTE) if compute_too else [steps.DRIVER])
        ends = {end.step: end for end in self._child("cpu", wanted)}
        if steps.IMPORT in ends:
            self.checks.append(unhappy(steps.IMPORT, ends[steps.IMPORT], "torch can be imported"))
            return ()
        self._judge_build(ends.pop(steps.BUILD.name))
        if compute_too:
            self.checks += [compute("cpu", end) for end in ends.values()]
            return ()
        return self._judge_driver(ends[steps.DRIVER.name])

    def _judge_build(self, ended: Ended) -> None:
        facts = read(ended, BuildFacts.from_json)
        if isinstance(facts, Ended):
            self.checks.append(unhappy("build", facts, "torch says what it was built for"))
            return
        self.checks.append(replace(build_checks.build(facts, self.expected), seconds=ended.seconds))
        self.checks.append(build_checks.targets(facts, self.expected))

    def _judge_driver(self, ended: Ended) -> tuple[Device, ...]:
        """The devices to compute on."""
        facts = read(ended, DriverFacts.from_json)
        if isinstance(facts, Ended):
            self.checks.append(unhappy("driver", facts, "the driver loads"))
            return ()
        self.checks.append(replace(driver_checks.driver(facts, self.expected), seconds=ended.seconds))
        return tuple(d for d in facts.devices if driver_checks.promised_code(d, self.expected) is not None)

    def _compute(self, device: Device) -> None:
        self.checks += [compute(device.device, end) for end in self._child(device.device, list(steps.COMPUTE))]

    def _child(self, device: str, wanted: list[steps.Step]) -> tuple[Ended, ...]:
        order = Order(
            interpreter=self.interpreter,
            steps=wanted,
            timeout_s=self.timeout_s,
            device=device,
            options={"kind": self.expected.device},
        )
        return run(order, lambda step: self.progress(f"{device}: {step}"))
