"""Driver branches, floors, ceilings and the driver's CUDA."""

from __future__ import annotations

import pytest

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.judge.driver import Driver, branch_of, driver_of, floor, mismatch, too_old
from envsolve.machine.machine import Machine
from envsolve.rulebook.load import load

RULES = load()


def driver(version: str | None = None, cuda: str | None = None, *, windows: bool = False) -> Driver:
    return driver_of(
        Machine(
            os="windows" if windows else "linux",
            arch="x86_64",
            driver=Dotted.parse(version) if version else None,
            cuda_max=Dotted.parse(cuda) if cuda else None,
        ),
        RULES,
    )


@pytest.mark.parametrize(
    ("version", "branch", "cuda"),
    [
        ("580.65.06", 580, "13.0"),
        ("581.57", 580, "13.0"),  # Windows shares the branch, not the minor numbers
        ("572.60", 570, "12.8"),
        ("474.14", 470, "11.4"),
        ("546.33", 545, "12.3"),
        ("610.47", 610, "13.3"),
    ],
)
def test_the_branch_tells_the_cuda(version: str, branch: int, cuda: str) -> None:
    assert branch_of(Dotted.parse(version), RULES) == branch
    assert driver(version).cuda == Dotted.parse(cuda)


def test_without_a_version_the_cuda_tells_the_branch() -> None:
    assert driver(cuda="12.8").branch == 570


@pytest.mark.parametrize(
    ("cuda", "windows", "lowest"),
    [
        ("12.8", False, "525.60.13"),  # minor-version compatibility: the major's first branch will do
        ("12.8", True, "528.33"),
        ("13.0", False, "580.65.06"),
        ("11.8", False, "450.80.02"),
        ("10.2", False, "440.33"),  # none before CUDA 11: the toolkit's own driver
        ("10.0", False, "410.48"),
    ],
)
def test_the_floor_of_a_cuda(cuda: str, windows: bool, lowest: str) -> None:
    assert floor(Dotted.parse(cuda), RULES, windows=windows) == Dotted.parse(lowest)


def test_too_old_names_the_numbers_that_decide() -> None:
    assert too_old(driver("570.86.10"), Dotted.parse("13.0"), RULES) == (
        "CUDA 13.0 needs driver 580.65.06 or newer, this is 570.86.10"
    )
    assert too_old(driver("535.104.05"), Dotted.parse("12.8"), RULES) is None


def test_a_cuda_without_a_driver_version_decides_by_major() -> None:
    assert too_old(driver(cuda="12.2"), Dotted.parse("12.8"), RULES) is None
    assert too_old(driver(cuda="12.8"), Dotted.parse("13.0"), RULES)


@pytest.mark.parametrize(
    ("version", "capability", "code"),
    [
        ("525.60.13", "12.0", "gpu-driver-mismatch"),  # Blackwell starts with R570
        ("595.79", "5.0", "driver-too-new"),  # Maxwell ends with R580
        ("581.57", "5.0", None),
        ("495.29.05", "3.5", "driver-too-new"),
        ("474.14", "3.5", None),
        ("580.65.06", "9.0", None),
    ],
)
def test_a_driver_that_cannot_drive_the_card(version: str, capability: str, code: str | None) -> None:
    found = mismatch(driver(version), Capability.parse(capability), RULES)
    assert (found[0] if found else None) == code
