"""The driver's side of a judgement: branch, CUDA, floor and ceiling.

Source of the rules: NVIDIA's CUDA compatibility guide and toolkit release notes, as carried in rules/cuda/drivers.yaml.
"""

from __future__ import annotations

from functools import lru_cache

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook


@record
class Driver:
    """What is known of a machine's driver: its version, its branch, and the newest CUDA that it speaks."""

    version: Dotted | None
    branch: int | None
    cuda: Dotted | None
    windows: bool  # Windows numbers count, inside WSL too

    @property
    def known(self) -> bool:
        return self.version is not None or self.cuda is not None

    def reaches(self, lowest: Dotted) -> bool:
        """Whether the version is this one or newer. A bare branch ("580", as people write it, or Jetson's "580.00")
        stands for the releases of that branch."""
        version = self.version
        return version is None or version >= lowest or self.names_only_the_branch_of(lowest)

    def names_only_the_branch_of(self, lowest: Dotted) -> bool:
        """Whether the version is a bare branch number, and `lowest` is a release of that branch."""
        return self.version is not None and self.version.parts == (lowest.major,) and lowest.parts != (lowest.major,)

    def __str__(self) -> str:
        if self.version is not None:
            return f"driver {self.version}"
        return f"a driver with CUDA {self.cuda}" if self.cuda is not None else "an unknown driver"


def driver_of(machine: Machine, rulebook: Rulebook) -> Driver:
    """The driver of a machine; what is missing of branch and CUDA is derived from the other by the rules."""
    branch = branch_of(machine.driver, rulebook) if machine.driver is not None else None
    cuda = machine.cuda_max
    if machine.driver is not None and branch is not None and cuda is None:
        cuda = rulebook.branches[branch].cuda
    if machine.driver is None and cuda is not None:
        branch = max((b.branch for b in rulebook.branches.values() if b.cuda <= cuda), default=None)
    windows = machine.os == "windows" or machine.wsl
    return Driver(version=machine.driver, branch=branch, cuda=cuda, windows=windows)


def branch_of(version: Dotted, rulebook: Rulebook) -> int | None:
    """The branch that a driver version belongs to: the newest known branch not above its first number."""
    return max((b for b in rulebook.branches if b <= version.major), default=None)


@lru_cache(maxsize=512)
def minor_of(cuda: Dotted) -> tuple[int, ...]:
    """(12, 8) of 12.8.1; (10, 0) of 10.0, whose parts are (10,)."""
    return (*cuda.parts, 0)[:2]


def floor(cuda: Dotted, rulebook: Rulebook, *, windows: bool) -> Dotted | None:
    """The lowest driver that runs a build of this CUDA; None = not published.

    Where the rules hold a floor for the major, any driver from there on will do; else only the toolkit's own or newer.
    """
    shipped = rulebook.shipped_drivers.get(minor_of(cuda), ())
    own = min((n for d in shipped if (n := d.windows if windows else d.linux) is not None), default=None)
    general = _general_floor(cuda, rulebook, windows=windows)
    return min((n for n in (own, general) if n is not None), default=None)


def _general_floor(cuda: Dotted, rulebook: Rulebook, *, windows: bool) -> Dotted | None:
    """The floor of minor-version compatibility for a CUDA's major; None = that major has none."""
    major = rulebook.driver_floors.get(cuda.major)
    if major is None:
        return None
    return major.windows if windows else major.linux


def too_old(driver: Driver, cuda: Dotted, rulebook: Rulebook) -> str | None:
    """Why the driver can't run a build of this CUDA, with the numbers that decide; None = it can, or is unknown."""
    lowest = floor(cuda, rulebook, windows=driver.windows)
    if driver.version is not None:
        if lowest is not None and not driver.reaches(lowest):
            return f"CUDA {cuda} needs driver {lowest} or newer, this is {driver.version}"
        if lowest is not None or cuda.major in rulebook.driver_floors:
            return None
        # A CUDA major that the rules have no numbers for: the driver's own CUDA is all there is to go by.
    if driver.cuda is None or driver.cuda >= cuda:
        return None
    if driver.cuda.major == cuda.major and _general_floor(cuda, rulebook, windows=driver.windows) is not None:
        return None
    return f"CUDA {cuda} is newer than the driver's CUDA {driver.cuda}"


def branch_limits(capability: Capability, rulebook: Rulebook) -> tuple[int | None, int | None]:
    """The first and the last driver branch that drives a GPU of this capability; None = no limit known."""
    architecture = rulebook.architecture(capability)
    if architecture is None:
        return None, None
    return architecture.branches.get(capability, (architecture.first_branch, architecture.last_branch))


def mismatch(driver: Driver, capability: Capability, rulebook: Rulebook) -> tuple[str, str] | None:
    """(code, text) when a driver of this branch can't drive a GPU of this capability at all.

    Floors that the rules hold with low certainty are left to a note: a doubtful fact refuses nobody.
    """
    architecture = rulebook.architecture(capability)
    if architecture is None or driver.branch is None:
        return None
    first, last = branch_limits(capability, rulebook)
    if architecture.first_branch_certainty == "low":
        first = None
    if last is not None and driver.branch > last:
        text = f"{architecture.name} ({capability}) ends with driver branch R{last}, this is {driver}"
        return "driver-too-new", text
    if first is not None and driver.branch < first:
        text = f"{architecture.name} ({capability}) starts with driver branch R{first}, this is {driver}"
        return "gpu-driver-mismatch", text
    return None
