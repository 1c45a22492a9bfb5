"""The straight way takes exactly the pins that resolvelib takes, or none."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, example, given, settings
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
VERSIONS = ("1.0", "2.0", "2.5", "3.0rc1")
Universe = dict[tuple[str, str], tuple[str, ...]]

_specifiers = st.sampled_from(("", "", "", ">=2", "<2.5", "==2.0", "!=2.0", "<2", ">=3.0rc1", "~=2.0"))
_extras = st.sampled_from(("", "", "", "[x]"))
_requirements = st.builds(lambda n, e, s: f"{n}{e}{s}", st.sampled_from(NAMES), _extras, _specifiers)
_of_extra = st.builds(lambda r: f'{r}; extra == "x"', _requirements)
_requires = st.lists(st.one_of(_requirements, _of_extra), max_size=3).map(tuple)
_universes = st.dictionaries(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VERSIONS)), _requires, min_size=4, max_size=14
)


class TableIndex(MemoryIndex):
    """Requirements straight from a table: hypothesis makes many."""

    def __init__(self, universe: Universe, yanked: frozenset[tuple[str, str]]) -> None:
        super().__init__()
        self._requires = universe
        for name, version in universe:
            file = StubWheel(name=name, version=version)
            self.add_default(file, yanked="broken" if (name, version) in yanked else None)

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        requires = next(r for (n, v), r in self._requires.items() if n == file.name and Version(v) == file.version)
        return WheelMetadata(
            name=file.name,
            version=file.version,
            requires=tuple(Requirement(text) for text in requires),
            extras=frozenset({"x"}),
        )


def _choices(universe: Universe, yanked: frozenset[tuple[str, str]], prefer: dict[str, Version]) -> Choices:
    env = target_env(a_machine(), "3.12")
    return Choices(Sources(a_plan("torch"), TableIndex(universe, yanked), env), (Requirement("b!=3.0rc1"),), prefer)


# c 2.5 wants another c: what it asks of b until then must not count, or count in both.
RULES_ITSELF_OUT: Universe = {
    ("a", "1.0"): ("c", "d"),
    ("b", "1.0"): (),
    ("b", "2.5"): (),
    ("c", "1.0"): (),
    ("c", "2.5"): ("b<2.5", "c<2.5"),
    ("d", "1.0"): ("b",),
}


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    _universes,
    st.lists(_requirements, min_size=1, max_size=3),
    st.frozensets(st.tuples(st.sampled_from(NAMES), st.sampled_from(VERSIONS)), max_size=2),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VERSIONS).map(Version), max_size=2),
)
@example(RULES_ITSELF_OUT, ["a"], frozenset(), {})
def test_the_straight_way_and_the_search_agree(
    universe: Universe, roots: list[str], yanked: frozenset[tuple[str, str]], prefer: dict[str, Version]
) -> None:
    choices = _choices(universe, yanked, prefer)
    needs = choices.roots([Requirement(root) for root in roots])
    found = straight(choices, needs)
    searched = closure._search(choices, needs)
    if found is not None:
        assert not isinstance(searched, Conflict)
        assert {key: c.text for key, c in found.items()} == {key: c.text for key, c in searched.items()}


def test_a_newer_pin_is_taken_back_without_a_search() -> None:
    universe: Universe = {("a", "1.0"): ("b<2.5",), ("b", "2.5"): (), ("b", "2.0"): ("c",), ("c", "1.0"): ()}
    choices = _choices(universe, frozenset(), {})
    found = straight(choices, choices.roots([Requirement("b"), Requirement("a")]))
    assert found is not None and {key: c.text for key, c in found.items()} == {"a": "1.0", "b": "2.0", "c": "1.0"}


def test_a_dead_end_is_left_to_the_search() -> None:
    universe: Universe = {("a", "2.0"): ("c<2",), ("a", "1.0"): ("c",), ("b", "1.0"): ("c>=2",), ("c", "2.0"): ()}
    choices = _choices(universe, frozenset(), {})
    needs = choices.roots([Requirement("a"), Requirement("b")])
    found = straight(choices, needs)
    assert found is not None and found["a"].text == "1.0"  # the next version of the same package is no dead end
    universe[("c", "1.0")] = ()
    choices = _choices(universe, frozenset(), {})
    needs = choices.roots([Requirement("a"), Requirement("b")])
    searched = closure._search(choices, needs)
    assert straight(choices, needs) is None and not isinstance(searched, Conflict)
    assert {key: c.text for key, c in searched.items()} == {"a": "1.0", "b": "1.0", "c": "2.0"}


def test_pins_that_take_each_other_back_for_ever_are_left_to_the_search() -> None:
    universe: Universe = {("a", "2.0"): ("a!=2.0",), ("a", "1.0"): ("a==2.0",)}
    choices = _choices(universe, frozenset(), {})
    needs = choices.roots([Requirement("a")])
    assert straight(choices, needs) is None and isinstance(closure._search(choices, needs), Conflict)


def test_what_is_known_of_a_listing_survives_json() -> None:
    universe: Universe = {("a", v): ("b>=2",) for v in VERSIONS} | {("b", v): () for v in VERSIONS}
    choices = _choices(universe, frozenset({("a", "2.5")}), {})
    straight(choices, choices.roots([Requirement("a")]))
    listing = choices.listing("a")
    known = json.loads(json.dumps(listing.known()))
    again = type(listing).recalled("a", known, lambda: listing)
    assert json.loads(json.dumps(again.known())) == known and not again.changed
    assert again.texts == listing.texts and again.finals == listing.finals and again.yanked == listing.yanked
    assert again.files(2)[0].filename == "a-2.0-py3-none-any.whl"
    assert again.files(3) == listing.files(3)  # one that wasn't needed then is looked up
