"""The formats of a lock, chosen by the name of its file."""

from __future__ import annotations

import re
from collections.abc import Callable

from envsolve.errors import InputError
from envsolve.lock.lock import Lock


def _write_requirements(lock: Lock) -> str:
    from envsolve.lock import requirements_txt

    return requirements_txt.write(lock)


def _write_pylock(lock: Lock) -> str:
    from envsolve.lock import pylock_toml

    return pylock_toml.write(lock)


def _write_environment(lock: Lock) -> str:
    from envsolve.lock import environment_yml

    return environment_yml.write(lock)


# PEP 751 allows pylock.toml and pylock.NAME.toml only.
_BY_NAME: tuple[tuple[re.Pattern[str], Callable[[Lock], str]], ...] = (
    (re.compile(r".+\.txt"), _write_requirements),
    (re.compile(r"pylock(\.[^.]+)?\.toml"), _write_pylock),
    (re.compile(r"environment.*\.ya?ml"), _write_environment),
)
_ACCEPTED = "NAME.txt, pylock.toml, pylock.NAME.toml or environment.yml"


def writer(filename: str) -> Callable[[Lock], str]:
    """What writes a lock for a file of this name (without folders). Raises InputError for other names."""
    for pattern, write in _BY_NAME:
        if pattern.fullmatch(filename):
            return write
    raise InputError(f"no lock format goes with the name {filename!r}", hint=f"-o {_ACCEPTED}")


def read(text: str, filename: str) -> Lock:
    """The Lock in a file of this name. Raises InputError for names and texts that can't be read back."""
    write = writer(filename)
    if write is _write_requirements:
        from envsolve.lock import requirements_txt

        return requirements_txt.read(text, what=filename)
    if write is _write_pylock:
        from envsolve.lock import pylock_toml

        return pylock_toml.read(text, what=filename)
    raise InputError(f"{filename} holds no hashes to install by", hint="give a requirements lock or a pylock.toml")
