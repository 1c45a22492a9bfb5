"""The declaration of a project: written, read, and every mistake in it named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.keeping.declared import Declared, DeclaredTarget
from envsolve.keeping.declared_read import parse_declared
from envsolve.keeping.declared_write import declared_text

_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
_MANY = st.lists(_TEXTS, max_size=2).map(tuple)
_SOME = st.lists(_TEXTS, min_size=1, max_size=2).map(tuple)
_VARIANTS = st.lists(st.sampled_from(["cpu", "cu126", "cu130", "rocm6.4", "xpu"]), max_size=2).map(tuple)
_TARGETS = st.builds(
    DeclaredTarget,
    machine=_TEXTS.filter(str.strip),
    locks=_SOME,
    variants=_VARIANTS,
    gpus=st.sampled_from(["all", "best", "0", "0,1"]),
)
_DECLARED = st.builds(
    Declared,
    requirements=_SOME,
    targets=st.lists(_TARGETS, min_size=1, max_size=3).map(tuple),
    locks=_MANY,
    constraints=_MANY,
    extras=_MANY,
    groups=_MANY,
    variants=_VARIANTS,
    sdists=st.booleans(),
)
GOOD = 'schema = 1\nrequirements = ["r.in"]\nlocks = ["a.txt"]\n[[targets]]\nmachine = "RTX 4090"\n'


@given(declared=_DECLARED)
def test_what_is_written_reads_back(declared: Declared) -> None:
    assert parse_declared(declared_text(declared)) == declared


def test_the_shortest_file() -> None:
    declared = parse_declared(GOOD)
    (target,) = declared.targets
    assert (declared.locks_of(target), declared.variants_of(target)) == (("a.txt",), ())
    assert (target.gpus, declared.sdists) == ("all", False)


def test_a_targets_own_locks_and_variants_outrank_the_projects() -> None:
    declared = parse_declared(GOOD + 'locks = ["b.txt"]\nvariants = ["cpu"]\n')
    (target,) = declared.targets
    assert (declared.locks_of(target), declared.variants_of(target)) == (("b.txt",), ("cpu",))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("schema = 1", "schema = 0", "schema is not a number: 0"),
        ("schema = 1", "schema = true", "schema is not a number: True"),
        ("schema = 1", "schema = 7", "schema 7 is of a newer envsolve"),
        ('["r.in"]', "[]", "requirements names no file"),
        ('["r.in"]', '"r.in"', "requirements is not a list of texts"),
        ('["r.in"]', "[3]", "requirements is not a list of texts"),
        ("[[targets]]", "[targets]", "targets names no machine"),
        ('machine = "RTX 4090"', "", r"targets\[0\].machine says no machine"),
        ('machine = "RTX 4090"', 'machine = " "', r"targets\[0\].machine says no machine"),
        ('locks = ["a.txt"]', "", r"targets\[0\] has no lock"),
        ("schema = 1", 'schema = 1\nvariants = ["cuda12"]', "variants has 'cuda12', which is no variant"),
        ("schema = 1", 'schema = 1\nsdists = "yes"', "sdists is neither true nor false: 'yes'"),
        ('"RTX 4090"', '"RTX 4090"\ngpus = "first"', r"targets\[0\].gpus is not all, best or indexes: 'first'"),
    ],
)
def test_a_mistake_is_named_by_its_place(before: str, after: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        parse_declared(GOOD.replace(before, after))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("key", "hint"),
    [("requirement", "did you mean requirements?"), ("variant", "did you mean variants?"), ("zzz", "known keys: ")],
)
def test_an_unknown_key_names_the_nearest_one(key: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"unknown key {key}") as caught:
        parse_declared(f"{key} = 1\n" + GOOD)
    assert caught.value.hint.startswith(hint)
