"""verify(): prove an environment, each group of checks in a child process inside it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envsolve.record import replace
from envsolve.verify import steps
from envsolve.verify.checks import build as build_checks
from envsolve.verify.checks import driver as driver_checks
from envsolve.verify.checks import extras, native, packages
from envsolve.verify.checks.compute import compute
from envsolve.verify.checks.ends import read, unhappy
from envsolve.verify.child import Ended, Order, run
from envsolve.verify.expected import Expected
from envsolve.verify.facts import BuildFacts, Device, DriverFacts, Survey
from envsolve.verify.report import Check, Report

Progress = Callable[[str], None]

# Kernels that the driver compiled earlier must not stand in for the ones of the binary.
_NO_JIT = {"CUDA_DISABLE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}
_COMPILE_LIMIT_S = 180.0


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
    survey, checks = session.installed()
    if survey is not None:
        checks += list(session.proven())
    return Report(
        environment=environment or str(interpreter.parent.parent),
        python=survey.python if survey else "",
        torch=survey.versions().get("torch", "") if survey else "",
        checks=tuple(checks),
        static=static,
    )


def survey_of(interpreter: Path, *, timeout_s: float = 60) -> Survey | Ended:
    """What is installed beside an interpreter, without importing it; the Ended says why nothing could be learnt."""
    ended = run(Order(interpreter=interpreter, steps=(steps.SURVEY,), timeout_s=timeout_s, torch=False))
    return read(ended[0], Survey.from_json)


@dataclass(frozen=True, slots=True)
class _Session:
    """One verification: what every group of checks needs."""

    interpreter: Path
    expected: Expected
    timeout_s: float
    static: bool
    progress: Progress

    def installed(self) -> tuple[Survey | None, list[Check]]:
        """What is installed, and the checks of it; no survey when the interpreter itself doesn't work."""
        self.progress("installed packages")
        began = time.monotonic()
        found = survey_of(self.interpreter, timeout_s=self.timeout_s)
        seconds = time.monotonic() - began
        if isinstance(found, Ended):
            return None, [unhappy("interpreter", found, f"Python {self.expected.python} that answers")]
        return found, [
            replace(packages.interpreter(found, self.expected), seconds=seconds),
            packages.versions(found, self.expected),
            packages.torch_files(found, self.expected),
            packages.requirements(found, self.expected),
        ]

    def proven(self) -> Iterator[Check]:
        """Import torch and look at the build, then compute; what needs no GPU in one child (one import of torch)."""
        on_cpu = self.static or self.expected.device == "cpu"
        compute_steps = steps.compute_steps(self.expected.versions)
        ends = list(self._child("cpu", (steps.BUILD, *(compute_steps if on_cpu else (steps.DRIVER,)))))
        if ends[0].step == steps.IMPORT:
            yield unhappy(steps.IMPORT, ends[0], "torch can be imported")
            return
        facts = read(ends[0], BuildFacts.from_json)
        yield from self._build(facts, ends[0].seconds)
        if on_cpu:
            yield from (compute("cpu", end) for end in ends[1:])
            return
        devices, check = self._driver(ends[1])
        if isinstance(facts, BuildFacts) and not build_checks.same_accelerator(facts, self.expected):
            yield Check(name="driver", outcome="skipped", expected=check.expected, seen="not tried: the build is wrong")
            return
        yield check
        for device in devices:
            yield from self._device(device, compute_steps)
        if len(devices) > 1 and self.expected.device == "cuda":
            yield self._nccl(devices)

    def _build(self, facts: BuildFacts | Ended, seconds: float) -> Iterator[Check]:
        if isinstance(facts, Ended):
            yield unhappy("build", facts, "torch says what it was built for")
            return
        yield replace(build_checks.build(facts, self.expected), seconds=seconds)
        yield build_checks.targets(facts, self.expected)

    def _driver(self, ended: Ended) -> tuple[tuple[Device, ...], Check]:
        """The devices to compute on, and the check."""
        facts = read(ended, DriverFacts.from_json)
        if isinstance(facts, Ended):
            return (), unhappy("driver", facts, "the driver loads")
        check = replace(driver_checks.driver(facts, self.expected), seconds=ended.seconds)
        return tuple(d for d in facts.devices if driver_checks.promised_code(d, self.expected) is not None), check

    def _device(self, device: Device, compute_steps: tuple[steps.Step, ...]) -> Iterator[Check]:
        """Everything on one device: the computation, and on CUDA the proof of native code and torch.compile."""
        name = device.device
        checks = [compute(name, end) for end in self._child(name, compute_steps)]
        yield from checks
        # Where nothing runs at all, these would only say it again.
        if self.expected.device == "cuda" and any(check.outcome == "passed" for check in checks):
            yield from self._native(device)
            yield self._compiled(name)

    def _native(self, device: Device) -> Iterator[Check]:
        wanted = [steps.OWN_KERNELS]
        if "torchvision" in self.expected.versions:
            wanted.append(steps.TORCHVISION_KERNELS)
        first, *more = self._child(device.device, tuple(wanted), env=_NO_JIT)
        yield native.native(device.device, first, driver_checks.promised_code(device, self.expected) or "")
        yield from (native.companion(device.device, end) for end in more if first.step != steps.IMPORT)

    def _compiled(self, device: str) -> Check:
        with tempfile.TemporaryDirectory(prefix="envsolve-compile-", ignore_cleanup_errors=True) as folder:
            caches = {
                "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "inductor"),
                "TRITON_CACHE_DIR": str(Path(folder) / "triton"),
                "TORCHINDUCTOR_COMPILE_THREADS": "1",
            }
            limit = min(self.timeout_s, _COMPILE_LIMIT_S)
            ends = self._child(device, (steps.COMPILED,), env=caches, timeout_s=limit)
        return extras.compiled(device, ends[0])

    def _nccl(self, devices: tuple[Device, ...]) -> Check:
        numbers = [int(device.device.partition(":")[2]) for device in devices]
        # The step ends its processes itself before the child is ended from outside.
        options = {"numbers": numbers, "limit_s": max(self.timeout_s - 30, self.timeout_s / 2)}
        return extras.nccl(self._child("cpu", (steps.ALL_REDUCE,), options=options)[0])

    def _child(
        self,
        device: str,
        wanted: tuple[steps.Step, ...],
        *,
        env: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> tuple[Ended, ...]:
        order = Order(
            interpreter=self.interpreter,
            steps=wanted,
            timeout_s=timeout_s or self.timeout_s,
            device=device,
            options={"kind": self.expected.device, **(options or {})},
            env=env or {},
        )
        return run(order, lambda step: self.progress(f"{device}: {step}"))
