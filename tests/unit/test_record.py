"""record: what a frozen, slotted, keyword-only dataclass does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, fields, is_dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.record import field, record, replace


@record
class Point:
    """A place."""

    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def total(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    x: int
    y: int = 2
    seen: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)


@record
class Nothing:
    pass


@record
class Checked:
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(self.size)

    def __str__(self) -> str:
        return f"size {self.size}"


@given(st.integers(), st.integers(), st.integers())
def test_it_is_made_compared_and_shown_like_a_dataclass(x: int, y: int, z: int) -> None:
    one, other = Point(x=x, y=y), Point(x=x, y=z)
    assert (one == other) is (Plain(x=x, y=y) == Plain(x=x, y=z))
    assert one == Point(x=x, y=y, seen=[1]) and hash(one) == hash(Point(x=x, y=y))
    assert repr(one) == repr(Plain(x=x, y=y)).replace("Plain", "Point")
    assert replace(one, x=z) == dataclasses.replace(one, x=z) == Point(x=z, y=y) and asdict(one) == asdict(
        Plain(x=x, y=y)
    )
    assert [f.name for f in fields(one)] == [f.name for f in fields(Plain(x=x))] == ["x", "y", "seen"]
    assert one != Plain(x=x, y=y) and one.total == x + y


def test_it_is_frozen_slotted_and_keyword_only() -> None:
    point = Point(x=1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.y  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        point.new = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Point(x=1, z=2)  # type: ignore[call-arg]
    assert not hasattr(point, "__dict__")
    assert point.seen is not Point(x=1).seen


def test_it_is_copied_pickled_and_matched() -> None:
    point = Point(x=1, seen=[3])
    assert copy.copy(point) == point == copy.deepcopy(point) == pickle.loads(pickle.dumps(point))
    assert copy.deepcopy(point).seen == [3]
    match point:
        case Point(x=1, y=found):
            assert found == 2


def test_own_methods_stay_and_no_fields_are_fine() -> None:
    assert Nothing() == Nothing() and repr(Nothing()) == "Nothing()" and len({Nothing(), Nothing()}) == 1
    assert str(Checked(size=1)) == "size 1"
    with pytest.raises(ValueError):
        Checked(size=-1)


def test_a_class_variable_is_no_field() -> None:
    @record
    class Counted:
        size: int
        made: ClassVar[int] = 3

    assert [f.name for f in fields(Counted)] == ["size"] and Counted.made == 3  # type: ignore[arg-type]
    assert Counted(size=1) == Counted(size=1) and is_dataclass(Counted)


def test_a_wrong_call_names_the_class_and_the_field() -> None:
    for _ in range(2):  # the first object compiles __init__, the next ones find it there
        with pytest.raises(TypeError, match=r"Point\.__init__\(\).*'x'"):
            Point()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"Point\.__init__\(\).*'z'"):
            Point(x=1, z=2)  # type: ignore[call-arg]


def test_a_field_of_another_kind_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"Mixed\.seen"):

        @record
        class Mixed:
            seen: list[int] = dataclasses.field(default_factory=list)
