"""What was asked for of an environment, and which pins can stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envsolve.doctor.facts import load_facts
from envsolve.doctor.keepable import keepable
from envsolve.doctor.top_level import Held, TopLevel, top_level

FACTS = load_facts()


def asked(*held: Held, python: str = "3.11") -> TopLevel:
    return top_level(held, python, FACTS)


def test_what_another_package_needs_is_not_asked_for() -> None:
    found = asked(Held(name="tool", version="1", requires=("six>=1",)), Held(name="six", version="1.16"))
    assert found.pins == ("tool==1",)


def test_what_was_named_is_asked_for_unless_everything_was() -> None:
    tool = Held(name="tool", version="1", requires=("six", "attrs"), requested=True)
    six, attrs = Held(name="six", version="1.16", requested=True), Held(name="attrs", version="3")
    assert asked(tool, six, attrs).pins == ("six==1.16", "tool==1")
    assert asked(tool, six).pins == ("tool==1",)


def test_the_family_is_named_without_versions_and_brings_its_own() -> None:
    found = asked(
        Held(name="torch", version="2.5.1+cpu", requires=("numpy",)),
        Held(name="torchaudio", version="2.5.1"),
        Held(name="nvidia-cublas-cu12", version="12.4"),
        Held(name="nvidia-nccl-cu13", version="2.27"),
        Held(name="nvidia-cufft", version="12.0"),
        Held(name="triton", version="3.1.0"),
        Held(name="pip", version="24.0"),
        Held(name="nvidia-ml-py", version="12.0"),
    )
    assert found == TopLevel(family=("torch", "torchaudio"), pins=("nvidia-ml-py==12.0",))


def test_a_label_belongs_to_the_torch_of_then() -> None:
    assert asked(Held(name="torch-scatter", version="2.1.2+pt20cu118")).pins == ("torch-scatter==2.1.2",)


def test_extras_and_markers_count_where_they_hold() -> None:
    server = Held(name="server", version="1", requires=("fast; extra == 'std'", "old; python_version < '3'"))
    app = Held(name="app", version="1", requires=("server[std]",))
    fast, old = Held(name="fast", version="1"), Held(name="old", version="1")
    assert asked(app, server, fast, old).pins == ("app==1", "old==1")
    assert asked(server, fast).pins == ("fast==1", "server==1")


def test_addresses() -> None:
    wheel = Held(name="a", version="1", url="https://example.org/a-1-py3-none-any.whl")
    source = Held(name="b", version="1", url="git+https://example.org/b@abc", requires=("six",))
    project = Held(name="c", version="1", folder="/home/me/c", editable=True)
    found = asked(wheel, source, project, Held(name="six", version="1"))
    assert found.direct == ("a @ https://example.org/a-1-py3-none-any.whl",)
    assert found.pins == ("six==1",)  # what is installed apart brings nothing with it
    assert [one.apart for one in found.apart] == [("b @ git+https://example.org/b@abc",), ("-e", "/home/me/c")]


def test_metadata_of_another_age_is_passed_over() -> None:
    assert asked(Held(name="tool", version="1", requires=("six (>=1.0", "attrs"))).pins == ("tool==1",)


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_all_but_the_guilty_pins_stay(pins: set[int], guilty: set[int]) -> None:
    texts = tuple(map(str, sorted(pins)))
    bad = set(map(str, guilty))
    kept = keepable(texts, lambda some: not bad & set(some))
    assert kept == tuple(text for text in texts if text not in bad)


def test_of_two_that_exclude_each_other_the_first_stays() -> None:
    assert keepable(("a", "b", "c"), lambda some: not {"a", "c"} <= set(some)) == ("a", "b")
