"""Memory: what the resolver worked out of the files of a package for one target, kept while those stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envsolve.index.cache import Cache
from envsolve.index.listing import Listings
from envsolve.index.places import Place
from envsolve.index.shelf import Shelf
from envsolve.record import record
from envsolve.settings import Settings

_KIND = "worked-out"
State = list[str | int]  # which of the places, then what Listings.state says of it


@record
class Question:
    """What was asked: the files of a package for a target (a key of it), `which` of them, and the places in order."""

    target: str
    name: str
    which: str
    places: Sequence[Place]

    @property
    def key(self) -> str:
        return " ".join((self.name, self.which, *(place.url for place in self.places)))


class Memory:
    """Answers by question, a shelf for each target; each names the places that were asked, and what was there."""

    def __init__(self, settings: Settings, cache: Cache, listings: Listings) -> None:
        self._settings = settings
        self._cache = cache
        self._listings = listings
        self._targets: dict[str, Shelf] = {}
        # What was recalled in this run, by target and key, and the states that it holds for.
        self._states: dict[tuple[str, str], list[State]] = {}

    def recall(self, question: Question) -> Any | None:
        """What was kept, if every place that it came from is unchanged; a page that isn't fresh is asked for.

        Raises OutsideError where a place can't be asked.
        """
        answer = self._target(question).get(question.key)
        if answer is None or not _is_answer(answer):
            return None
        states, body = answer
        if not all(self._is_unchanged(question, state) for state in states):
            return None
        self._states[question.target, question.key] = states
        return body

    def _is_unchanged(self, question: Question, state: State) -> bool:
        number, *rest = state
        return self._listings.is_unchanged(question.places[int(number)], question.name, rest)

    def keep(self, question: Question, asked: Sequence[Place] | None, body: object) -> None:
        """Keep plain data, once `save` is called. `asked` are the places that the question was answered from in this
        run, None if it was not answered, or not soundly."""
        states = self._states.get((question.target, question.key))
        if states is None and asked is not None:
            states = [[question.places.index(at), *self._listings.state(at, question.name)] for at in asked]
        if states is not None:
            self._target(question).put(question.key, [states, body])

    def save(self) -> None:
        """Write what is new."""
        for shelf in self._targets.values():
            shelf.save()

    def _target(self, question: Question) -> Shelf:
        name = question.target
        if name not in self._targets:
            self._targets[name] = Shelf(self._cache, _KIND, name, anew=self._settings.refresh)
        return self._targets[name]


def _is_answer(answer: object) -> bool:
    return isinstance(answer, list) and len(answer) == 2 and isinstance(answer[0], list)
