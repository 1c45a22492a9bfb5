"""The file's name chooses the format."""

from __future__ import annotations

import pytest
from hypothesis import given

from envsolve.errors import InputError
from envsolve.lock import environment_yml, formats, pylock_toml, requirements_txt
from envsolve.lock.lock import Lock
from fakes.locks import SOME, locks


@SOME
@given(locks())
def test_the_name_chooses_the_writer(lock: Lock) -> None:
    assert formats.format_of("requirements.lock.txt").write(lock) == requirements_txt.write(lock)
    assert formats.format_of("gpu.txt").write(lock) == requirements_txt.write(lock)
    assert formats.format_of("pylock.toml").write(lock) == pylock_toml.write(lock)
    assert formats.format_of("pylock.cu128.toml").write(lock) == pylock_toml.write(lock)
    assert formats.format_of("environment.yml").write(lock) == environment_yml.write(lock)
    assert formats.format_of("environment-gpu.yaml").write(lock) == environment_yml.write(lock)


@SOME
@given(locks())
def test_the_name_chooses_the_reader(lock: Lock) -> None:
    assert formats.read(pylock_toml.write(lock), "pylock.toml") == lock
    text = requirements_txt.write(lock)
    assert formats.read(text, "x.txt") == requirements_txt.read(text)
    with pytest.raises(InputError, match="no hashes"):
        formats.read(environment_yml.write(lock), "environment.yml")


@pytest.mark.parametrize("name", ["lock", "pylock.a.b.toml", "pyproject.toml", "env.yml", "uv.lock", ".txt", "a.json"])
def test_other_names_are_wrong_usage(name: str) -> None:
    with pytest.raises(InputError, match="no lock format goes with the name") as caught:
        formats.format_of(name)
    assert "pylock.toml" in caught.value.hint
