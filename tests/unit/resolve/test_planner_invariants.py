"""What must hold for every machine and request that hypothesis thinks of."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from envsolve.dotted import Dotted
from envsolve.judge.driver import branch_limits, driver_of
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Gpu, Libc, Machine
from envsolve.resolve.plan import NoPlan, Plan
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.resolve.survey import survey
from envsolve.rulebook.load import load

RULES = load()
CAPABILITIES = sorted({c for a in RULES.architectures for c in (a.first, a.last)})
BRANCHES = sorted(RULES.branches)
TORCHES = [str(v) for v in RULES.torch_versions]

gpus = st.lists(st.sampled_from(CAPABILITIES), min_size=1, max_size=3).map(
    lambda found: tuple(Gpu(name=f"card {i}", compute_capability=c, index=i) for i, c in enumerate(found))
)
machines = st.builds(
    lambda os, arch, python, branch, cards, glibc: Machine(
        os=os,
        arch="x86_64" if os == "windows" else arch,
        python=python,
        driver=Dotted.parse(f"{branch}.99"),
        gpus=cards,
        vendor="nvidia",
        libc=Libc(name="glibc", version=Dotted.parse(glibc)) if os == "linux" else None,
    ),
    st.sampled_from(["linux", "windows"]),
    st.sampled_from(["x86_64", "aarch64"]),
    st.sampled_from(["3.6", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]),
    st.sampled_from(BRANCHES),
    gpus,
    st.sampled_from(["2.17", "2.27", "2.28", "2.35"]),
)
companions = st.lists(st.sampled_from(["torchvision", "torchaudio"]), max_size=2, unique=True)
torches = st.one_of(
    st.just("torch"),
    st.sampled_from(TORCHES).map("torch=={}".format),
    st.sampled_from(TORCHES).map("torch>={}".format),
    st.sampled_from(TORCHES).map("torch<{}".format),
)


def request(*requirements: str) -> Request:
    return Request(requirements=tuple(Requirement(r) for r in requirements))


# A no is explained by dozens of surveys; whether there is a plan takes one.
quick = settings(max_examples=60, deadline=None)
explained = settings(max_examples=12, deadline=None)


def solved(machine: Machine, *requirements: str) -> bool:
    return bool(survey(machine, request(*requirements), RULES).running)


@quick
@given(machines, torches, companions)
def test_a_plan_never_holds_a_build_that_the_judge_refuses(machine: Machine, torch: str, others: list[str]) -> None:
    running = survey(machine, request(torch, *others), RULES).running
    case = Case(
        machine=machine,
        driver=driver_of(machine, RULES),
        rulebook=RULES,
        python=machine.python or "",
        exact="==" in torch,
    )
    assert all(judge(row.build, case).runs for row in running[:3])
    if running:
        answer = plan(machine, request(torch, *others), RULES)
        assert isinstance(answer, Plan) and answer.build == running[0].build
        assert {p.name for p in answer.packages} == {"torch", *others}
        assert len(answer.fits) == len(machine.gpus)
        assert not {fit.verdict for fit in answer.fits} & {"unsupported", "unknown"}


@quick
@given(machines, torches, st.sampled_from(TORCHES))
def test_another_requirement_never_turns_no_into_yes(machine: Machine, torch: str, bound: str) -> None:
    if "==" not in torch and solved(machine, torch, f"torch>={bound}", "torchvision"):
        assert solved(machine, torch, "torchvision")


@quick
@given(machines, torches)
def test_removing_a_gpu_never_turns_yes_into_no(machine: Machine, torch: str) -> None:
    if len(machine.gpus) > 1 and solved(machine, torch):
        assert solved(replace(machine, gpus=machine.gpus[1:]), torch)


@quick
@given(machines, torches)
def test_a_newer_driver_within_the_ceiling_never_loses_a_plan(machine: Machine, torch: str) -> None:
    limits = [branch_limits(g.compute_capability, RULES) for g in machine.gpus if g.compute_capability]
    last = min((last for _, last in limits if last is not None), default=BRANCHES[-1])
    newer = replace(machine, driver=Dotted.parse(f"{last}.999"))
    if machine.driver is not None and newer.driver is not None and newer.driver > machine.driver:
        assert solved(newer, torch) or not solved(machine, torch)


@explained
@given(machines, torches, companions)
def test_every_no_has_a_reason_and_every_remedy_a_text(machine: Machine, torch: str, others: list[str]) -> None:
    answer = plan(machine, request(torch, *others), RULES)
    if isinstance(answer, NoPlan):
        assert answer.guilty
        assert answer.refused
        assert all(r.refusals and r.refusals[0].text for r in answer.refused)
        assert all(remedy.text for remedy in answer.remedies)
