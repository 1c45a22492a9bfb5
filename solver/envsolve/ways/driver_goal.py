"""The build that a change of the driver is for: the best that the cards could run under a driver that suits them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from packaging.version import Version

from envsolve.judge.driver import driver_of
from envsolve.judge.fit import Fit
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build


def with_branch(machine: Machine, branch: int, rulebook: Rulebook) -> Machine:
    """The machine under a driver of another branch."""
    return replace(machine, driver=None, cuda_max=rulebook.branches[branch].cuda)


def best_fit(
    machine: Machine, branch: int, rulebook: Rulebook, accepts: Callable[[Build], bool] = lambda build: True
) -> Fit | None:
    """The best of the accepted CUDA builds under a driver branch: newest torch, then newest CUDA; None = none runs.

    `machine` has a capability for every GPU. Only what PyTorch advertises and the rules are sure of is looked at.
    """
    fits = _running(with_branch(machine, branch, rulebook), rulebook, accepts)
    return max(fits, key=_order, default=None)


def newest_running(machine: Machine, rulebook: Rulebook) -> Fit | None:
    """The best CUDA build under the driver that is there; None = none runs. Every GPU has its capability."""
    return max(_running(machine, rulebook, lambda build: True), key=_order, default=None)


def _running(machine: Machine, rulebook: Rulebook, accepts: Callable[[Build], bool]) -> Iterator[Fit]:
    case = Case(machine=machine, driver=driver_of(machine, rulebook), rulebook=rulebook, python=machine.python or "")
    for build in rulebook.builds_on(machine.platform):
        sure = build.advertised and build.certainty != "low" and build.targets_known
        if build.accelerator != "cuda" or not sure or not accepts(build):
            continue
        fit = judge(build, case)
        if fit.runs:
            yield fit


def _order(fit: Fit) -> tuple[Version, bool, tuple[int, ...]]:
    cuda = fit.build.cuda
    return fit.build.torch, fit.within_driver_cuda, cuda.parts if cuda is not None else ()
