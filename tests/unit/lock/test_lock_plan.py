"""Plan and closure in turns: absent files, companions that a package brings in, packages that need an older torch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from envsolve.errors import RefusedError
from envsolve.judge.fit import Fit
from envsolve.lock.lock_plan import FileRow, Solved, solve
from envsolve.resolve.plan import Answer, NoPlan
from envsolve.resolve.request import Request
from envsolve.resolve.row import Row
from envsolve.resolve.sources import PlannedFileMissing
from fakes.memory_index import MemoryIndex
from fakes.plans import LINUX_312, a_build, a_plan
from fakes.stub_wheels import StubWheel, stub_family

TORCHES = {"2.11.0": "0.26.0", "2.10.0": "0.25.0", "2.9.0": "0.24.0"}


def an_index(*torches: str, variant: str = "cu128") -> MemoryIndex:
    index = MemoryIndex()
    for torch in torches:
        index.add(variant, *stub_family(variant, tag=LINUX_312, torch=torch, torchvision=TORCHES[torch]))
    return index


def planner(request: Request, excluded: frozenset[FileRow]) -> Answer:
    """Plans the newest torch of TORCHES that the request and the exclusions leave."""
    spec = SpecifierSet()
    for requirement in request.requirements:
        if requirement.name == "torch":
            spec &= requirement.specifier
    rest = [
        torch
        for torch, vision in TORCHES.items()
        if spec.contains(torch) and not excluded & {("torch", torch, "cu128"), ("torchvision", vision, "cu128")}
    ]
    plans = [
        a_plan(*map(str, request.requirements), torch=torch, torchvision=TORCHES[torch], torchaudio="")
        for torch in rest
    ]
    if not plans:
        some = a_plan()
        return NoPlan(machine=some.machine, request=request, guilty="nothing left", refused=(), remedies=())
    rows = [
        Row(fit=Fit(build=a_build(str(p.build.torch), "cu128"), gpus=(), refusals=()), packages=p.packages, refusals=())
        for p in plans[1:]
    ]
    return replace(plans[0], alternatives=tuple(rows))


def ask(*texts: str) -> Request:
    return Request(requirements=tuple(Requirement(text) for text in texts))


def pins(solved: object) -> dict[str, str]:
    assert isinstance(solved, Solved)
    return {package.name: str(package.version) for package in solved.closure.packages}


def test_a_plan_that_the_index_holds_differs_in_nothing() -> None:
    found = solve(ask("torch", "torchvision"), planner, an_index("2.11.0", "2.10.0"))
    assert pins(found) == {"torch": "2.11.0+cu128", "torchvision": "0.26.0+cu128"}
    assert isinstance(found, Solved) and found.differences == ()


def test_an_absent_file_drops_its_row_and_the_difference_is_told() -> None:
    index = an_index("2.10.0")
    index.add("cu128", *stub_family("cu128", tag=LINUX_312, torch="2.11.0"))  # no torchvision 0.26.0
    found = solve(ask("torch", "torchvision"), planner, index)
    assert pins(found) == {"torch": "2.10.0+cu128", "torchvision": "0.25.0+cu128"}
    assert isinstance(found, Solved)
    assert found.differences == (
        "torchvision 0.26.0+cu128 is not on the index for this target",
        "torch 2.10.0+cu128 in place of the planned 2.11.0+cu128",
        "torchvision 0.25.0+cu128 in place of the planned 0.26.0+cu128",
    )


def test_nothing_on_the_index_ends_in_the_planners_no() -> None:
    assert isinstance(solve(ask("torch"), planner, MemoryIndex()), NoPlan)


def test_a_planner_that_insists_on_an_absent_file_does_not_loop() -> None:
    def stubborn(request: Request, excluded: frozenset[FileRow]) -> Answer:
        return a_plan("torch")

    with pytest.raises(PlannedFileMissing):
        solve(ask("torch"), stubborn, MemoryIndex())


def test_a_companion_that_a_package_needs_is_planned_with_the_others() -> None:
    index = an_index("2.11.0")
    index.add_default(StubWheel(name="timm", version="1", requires=("torchvision>=0.20",)))
    found = solve(ask("torch", "timm"), planner, index)
    assert pins(found) == {"timm": "1", "torch": "2.11.0+cu128", "torchvision": "0.26.0+cu128"}


def test_a_package_that_needs_an_older_torch_gets_it() -> None:
    index = an_index(*TORCHES)
    index.add_default(StubWheel(name="xformers", version="2", requires=("torch==2.9.0",)))
    found = solve(ask("torch", "torchvision", "xformers"), planner, index)
    assert pins(found) == {"torch": "2.9.0+cu128", "torchvision": "0.24.0+cu128", "xformers": "2"}
    assert isinstance(found, Solved)
    assert found.differences[0] == (
        "torch 2.9.0+cu128 in place of the planned 2.11.0+cu128: a package needs torch==2.9.0"
    )


def test_the_newest_torch_that_suits_any_version_of_the_package_is_taken() -> None:
    index = an_index(*TORCHES)
    index.add_default(StubWheel(name="xformers", version="1", requires=("torch==2.9.0",)))
    index.add_default(StubWheel(name="xformers", version="2", requires=("torch==2.10.0",)))
    assert pins(solve(ask("torch", "xformers"), planner, index))["torch"] == "2.10.0+cu128"


def test_a_torch_that_nothing_here_runs_is_told_as_a_conflict() -> None:
    index = an_index(*TORCHES)
    index.add_default(StubWheel(name="app", version="1", requires=("torch==1.13.0",)))
    with pytest.raises(RefusedError, match=r"app 1 needs torch==1\.13\.0\n  this machine's plan has torch 2\.11\.0"):
        solve(ask("torch", "app"), planner, index)


def test_the_users_own_pin_is_never_changed() -> None:
    index = an_index(*TORCHES)
    index.add_default(StubWheel(name="app", version="1", requires=("torch>=2.10",)))
    assert pins(solve(ask("torch", "app"), planner, index))["torch"] == "2.11.0+cu128"
    with pytest.raises(RefusedError) as caught:
        solve(ask("torch==2.9.0", "app"), planner, index)
    assert "you ask for torch==2.9.0" in caught.value.message


def test_many_absent_files_are_told_in_one_line() -> None:
    from envsolve.lock.lock_plan import _folded

    absent = tuple(f"torch 2.{minor}.0+cu130 is not on the index for this target" for minor in (15, 14, 13, 12))
    assert _folded(absent[:3]) == absent[:3]
    assert _folded(absent) == (
        "torch 2.15.0+cu130 is not on the index for this target, nor are 3 others down to torch 2.12.0+cu130",
    )
