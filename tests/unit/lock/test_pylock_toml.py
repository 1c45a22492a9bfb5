"""pylock.toml: valid by PEP 751, and read back without loss."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.pylock import Pylock

from envsolve.errors import InputError
from envsolve.lock import pylock_toml
from envsolve.lock.lock import Lock
from envsolve.lock.toml_text import toml_text
from fakes.locks import SOME, locks


@SOME
@given(locks())
def test_any_lock_is_valid_and_read_back_whole(lock: Lock) -> None:
    text = pylock_toml.write(lock)
    Pylock.from_dict(tomllib.loads(text))
    assert pylock_toml.read(text) == lock
    assert pylock_toml.write(lock) == text


@SOME
@given(locks())
def test_each_wheel_says_its_name_for_older_pips(lock: Lock) -> None:
    document = tomllib.loads(pylock_toml.write(lock))
    for package, written in zip(lock.packages, document["packages"], strict=True):
        assert [wheel["name"] for wheel in written["wheels"]] == [file.filename for file in package.files]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lock-version = ", "Invalid value"),
        ('lock-version = "1.0"', "created-by"),
        ('lock-version = "2.0"\ncreated-by = "envsolve"\npackages = []', "version 2.0 is not supported"),
        ('lock-version = "1.0"\ncreated-by = "uv"\npackages = []', "was made by uv"),
        ('lock-version = "1.0"\ncreated-by = "envsolve"\npackages = []', "[tool.envsolve] lacks"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        pylock_toml.read(text, what="pylock.toml")
    assert message in caught.value.message


_SCALARS = st.text(max_size=12) | st.booleans() | st.integers(-(2**60), 2**60)
_INNER = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@given(st.dictionaries(st.text(max_size=5), _INNER | st.dictionaries(st.text(max_size=5), _INNER), max_size=4))
def test_toml_text_says_what_was_meant(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(document)) == document
