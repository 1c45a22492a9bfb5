"""Locks of a newer envsolve with more in them are refused; people's own comments are not taken for that."""

from __future__ import annotations

import pytest
from hypothesis import given

from envsolve.errors import InputError
from envsolve.lock import pylock_toml, requirements_txt
from envsolve.lock.lock import Lock
from envsolve.lock.newer import NewerLockError
from fakes.locks import SOME, locks


@SOME
@given(locks())
def test_an_unknown_line_in_the_header_of_a_newer_lock(lock: Lock) -> None:
    text = requirements_txt.write(lock).replace("# target: ", "# policy: strict\n# target: ", 1)
    assert requirements_txt.read(text) == requirements_txt.read(requirements_txt.write(lock))
    newer = text.replace("made by envsolve 0.1.0", "made by envsolve 99.0")
    with pytest.raises(NewerLockError, match=r"^x\.txt was made by envsolve 99\.0 and holds .* 'policy'") as caught:
        requirements_txt.read(newer, what="x.txt")
    assert caught.value.hint == "pip install --upgrade envsolve"


@SOME
@given(locks())
def test_an_unknown_line_among_the_packages(lock: Lock) -> None:
    text = requirements_txt.write(lock) + "six==1.0 --from somewhere\n"
    with pytest.raises(InputError, match="not a line of a lock"):
        requirements_txt.read(text)
    with pytest.raises(NewerLockError, match="--from somewhere"):
        requirements_txt.read(text.replace("made by envsolve 0.1.0", "made by envsolve 99.0"))


@SOME
@given(locks())
def test_unknown_keys_in_a_pylock(lock: Lock) -> None:
    text = pylock_toml.write(lock)
    with pytest.raises(InputError, match="unknown keys: 'policy'"):
        pylock_toml.read(text + 'policy = "strict"\n')
    with pytest.raises(NewerLockError, match="'policy'"):
        pylock_toml.read(text.replace('version = "0.1.0"', 'version = "99.0"') + 'policy = "strict"\n')


@SOME
@given(locks())
def test_another_lock_version(lock: Lock) -> None:
    for version in ("1.1", "2.0"):
        with pytest.raises(NewerLockError, match=version):
            pylock_toml.read(pylock_toml.write(lock).replace('lock-version = "1.0"', f'lock-version = "{version}"'))
