"""The search against a plain one: what it finds is a solution, and it finds one wherever there is one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.resolve import closure
from envsolve.resolve.choices import Choices
from envsolve.resolve.conflict import Conflict
from envsolve.resolve.sources import Sources
from envsolve.resolve.straight import straight
from envsolve.resolve.target_env import target_env
from fakes.memory_index import MemoryIndex
from fakes.plans import a_machine, a_plan
from fakes.stub_wheels import StubWheel

NAMES = ("a", "b", "c", "d", "e")
VERSIONS = ("1.0", "2.0", "2.5", "3.0")
Universe = dict[tuple[str, str], tuple[str, ...]]
Pins = dict[str, str]

_specifiers = st.sampled_from(("", "", ">=2", "<2.5", "==2.0", "!=2.0", "<2", "~=2.0", ">2", "<1"))
_requirements = st.builds(lambda n, s: f"{n}{s}", st.sampled_from(NAMES), _specifiers)
_universes = st.dictionaries(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VERSIONS)),
    st.lists(_requirements, max_size=3).map(tuple),
    min_size=4,
    max_size=16,
)


class _Table(MemoryIndex):
    """Requirements straight from a table."""

    def __init__(self, universe: Universe) -> None:
        super().__init__()
        self._universe = universe
        self.add_default(*(StubWheel(name=name, version=version) for name, version in universe))

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        requires = map(Requirement, self._universe[file.name, str(file.version)])
        return WheelMetadata(name=file.name, version=file.version, requires=tuple(requires), extras=frozenset({"x"}))


def _choices(universe: Universe, prefer: dict[str, Version] | None = None) -> Choices:
    return Choices(Sources(a_plan("torch"), _Table(universe), target_env(a_machine(), "3.12")), (), prefer)


def _searched(universe: Universe, *roots: str) -> Pins | None:
    choices = _choices(universe)
    found = closure._search(choices, choices.roots([Requirement(root) for root in roots]))
    return None if isinstance(found, Conflict) else {key: candidate.text for key, candidate in found.items()}


def _is_solution(universe: Universe, pins: Pins, roots: list[str]) -> bool:
    """Whether the pins meet all needs and hold nothing else."""
    ahead, seen = [Requirement(root) for root in roots], set()
    while ahead:
        need = ahead.pop()
        if need.name not in pins or not need.specifier.contains(pins[need.name]):
            return False
        if need.name not in seen:
            seen.add(need.name)
            ahead += map(Requirement, universe[need.name, pins[need.name]])
    return seen == set(pins)


def _has_solution(universe: Universe, roots: list[str]) -> bool:
    versions = [[None, *(v for name, v in universe if name == wanted)] for wanted in NAMES]
    picks = ({n: v for n, v in zip(NAMES, some, strict=True) if v} for some in itertools.product(*versions))
    return any(_is_solution(universe, pins, roots) for pins in picks)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_universes, st.lists(_requirements, min_size=1, max_size=3))
def test_what_is_found_is_a_solution_and_what_is_refused_has_none(universe: Universe, roots: list[str]) -> None:
    choices = _choices(universe)
    needs = choices.roots([Requirement(root) for root in roots])
    for found in (straight(choices, needs), closure._search(choices, needs)):
        if isinstance(found, Conflict):
            assert found.causes and not _has_solution(universe, roots)
        elif found is not None:
            assert _is_solution(universe, {key: candidate.text for key, candidate in found.items()}, roots)


def test_what_nobody_asks_for_any_more_does_not_end_the_search() -> None:
    """c is asked for by a 2.5 only, which is taken back while c is open."""
    universe: Universe = {
        ("a", "1.0"): (),
        ("a", "2.5"): ("b", "c"),
        ("b", "1.0"): ("a<2.5",),
        ("c", "1.0"): ("d",),
        ("d", "1.0"): ("a>=2",),
    }
    assert _searched(universe, "a") == {"a": "1.0"}


def test_a_circle_that_nothing_leads_to_any_more_is_left_out() -> None:
    """c and d need each other, and only a 2.5, which is taken back, needed them."""
    universe: Universe = {
        ("a", "1.0"): (),
        ("a", "2.5"): ("c", "b"),
        ("b", "1.0"): ("a<2.5", "c"),
        ("c", "1.0"): ("d",),
        ("d", "1.0"): ("c",),
    }
    assert _searched(universe, "a") == {"a": "1.0"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_preferred_version_is_taken_where_it_may_be(version: str) -> None:
    universe: Universe = {("a", v): () for v in VERSIONS}
    choices = _choices(universe, {"a": Version(version)})
    found = closure._search(choices, choices.roots([Requirement("a<3")]))
    assert not isinstance(found, Conflict)
    assert found["a"].text == (version if version != "3.0" else "2.5")
