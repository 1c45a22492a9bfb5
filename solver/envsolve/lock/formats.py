"""The formats of a lock, chosen by the name of its file."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Protocol, cast

from envsolve.errors import InputError
from envsolve.lock.lock import Lock
from envsolve.lock.merged import check_merged
from envsolve.record import record
from envsolve.regex import regex


class _Writes(Protocol):
    def __call__(self, *locks: Lock) -> str: ...


class _Reads(Protocol):
    def __call__(self, text: str, *, what: str = ...) -> tuple[Lock, ...]: ...


@record
class Format:
    """How the files of one kind are written, by the module of that name in this room.

    `several`: one file may hold several targets; `reads`: it can be read back; `hashed`: with all that an installer
    needs; `conda`: it pins the conda packages too.
    """

    module: str
    several: bool = False
    reads: bool = False
    hashed: bool = False
    conda: bool = False

    def write(self, *locks: Lock) -> str:
        """The text of a file that holds these locks. Raises InputError where it can't hold several."""
        return cast(_Writes, self._function("write"))(*locks)

    def read(self, text: str, filename: str) -> tuple[Lock, ...]:
        """The locks in the text of such a file. Raises InputError."""
        if not self.reads:
            raise InputError(f"{filename} can't be read back as a lock")
        check_merged(text, filename)
        return cast(_Reads, self._function("read_all"))(text, what=filename)

    def _function(self, name: str) -> object:
        return getattr(importlib.import_module(f"envsolve.lock.{self.module}"), name)


# PEP 751 allows pylock.toml and pylock.NAME.toml only.
_BY_NAME: tuple[tuple[re.Pattern[str], Format], ...] = (
    (regex(r".+\.txt"), Format(module="requirements_txt", several=True, reads=True, hashed=True)),
    (regex(r"pylock(\.[^.]+)?\.toml"), Format(module="pylock_toml", several=True, reads=True, hashed=True)),
    (regex(r"environment.*\.ya?ml"), Format(module="environment_yml", reads=True)),
    (
        regex(r"(.*[.-])?conda-lock\.ya?ml"),
        Format(module="conda_lock_yml", several=True, reads=True, hashed=True, conda=True),
    ),
    (regex(r"(.*[.-])?virtual-packages\.ya?ml"), Format(module="virtual_packages_yml", several=True)),
)
ACCEPTED = "NAME.txt, pylock.toml, pylock.NAME.toml, environment.yml or conda-lock.yml"


def format_of(filename: str) -> Format:
    """The format that goes with a file of this name (without folders). Raises InputError for other names."""
    for pattern, found in _BY_NAME:
        if pattern.fullmatch(filename):
            return found
    raise InputError(f"no lock format goes with the name {filename!r}", hint=f"-o {ACCEPTED}")


def read(text: str, filename: str, *, platform: str = "", python: str = "") -> Lock:
    """The Lock in a file of this name; of several targets that of `platform`, and of `python` if it says so.

    Raises InputError for names and texts that can't be read back, and where no target is the one that is asked for.
    """
    chosen = format_of(filename)
    if not chosen.hashed:
        raise InputError(f"{filename} holds no hashes to install by", hint="give a requirements lock or a pylock.toml")
    locks = chosen.read(text, filename)
    if len(locks) == 1:
        return locks[0]
    found = pick(locks, platform=platform, python=python)
    if found is None:
        held = ", ".join(f"{lock.platform} with Python {lock.python}" for lock in locks)
        raise InputError(f"{filename} is not for {platform or 'one target'}: it holds {held}", hint="envsolve lock")
    return found


def pick(locks: Sequence[Lock], *, platform: str, python: str = "") -> Lock | None:
    """The first lock for a platform, with this Python (major.minor) where one is given; None if there is none."""
    fitting = (lock for lock in locks if lock.platform == platform and lock.python.startswith(python))
    return next(fitting, None)
