"""Memory: what the resolver worked out of the files of a package for one target, kept while those stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envsolve.index.cache import Cache
from envsolve.index.listing import Listings
from envsolve.index.places import Place
from envsolve.settings import Settings

_KIND = "worked-out"
State = list[str | int]  # which of the places, then what Listings.state says of it


class Memory:
    """Entries by question; each names the places that were asked, in order, and what state they were in."""

    def __init__(self, settings: Settings, cache: Cache, listings: Listings) -> None:
        self._settings = settings
        self._cache = cache
        self._listings = listings
        # What was recalled in this run, and the states that it holds for.
        self._states: dict[str, list[State]] = {}

    def recall(self, question: str, name: str, places: Sequence[Place]) -> Any | None:
        """What was kept, if every place that it came from is unchanged; a page that isn't fresh is asked for.

        Raises OutsideError where a place can't be asked.
        """
        key = _key(question, places)
        entry = None if self._settings.refresh else self._cache.read(_KIND, key)
        if entry is None:
            return None
        states: list[State] = entry.head.get("states", [])
        if not all(self._is_unchanged(places, name, state) for state in states):
            return None
        self._states[key] = states
        return entry.body

    def _is_unchanged(self, places: Sequence[Place], name: str, state: State) -> bool:
        number, *rest = state
        return self._listings.is_unchanged(places[int(number)], name, rest)

    def keep(
        self, question: str, name: str, places: Sequence[Place], asked: Sequence[Place] | None, body: object
    ) -> None:
        """Keep plain data. `asked` are the places that the question was answered from in this run, None if it was not
        answered, or not soundly."""
        key = _key(question, places)
        states = self._states.get(key)
        if states is None and asked is not None:
            states = [[places.index(place), *self._listings.state(place, name)] for place in asked]
        if states is not None:
            self._cache.write(_KIND, key, {"states": states}, body)


def _key(question: str, places: Sequence[Place]) -> str:
    return " ".join((question, *(place.url for place in places)))
