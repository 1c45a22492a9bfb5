"""Rooms that share their name with a function of the public API: envsolve.lock(...), envsolve.verify(...).

Importing a submodule sets it as an attribute of its package, so `envsolve.lock` is the room as soon as anything in it
was imported. The room is therefore made callable: either way `envsolve.lock(...)` does what it says.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A package that, called, calls the function of the same name in envsolve.api."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from envsolve import api

        return getattr(api, self.__name__.rpartition(".")[2])(*args, **kwargs)
