"""Straight: the solution where no pin's alternatives have to be tried again, found without a search.

It pins one package after the other as resolvelib would, in the same order and by the same rules, and gives up at the
first dead end: then resolvelib searches. Most sets need no search, and resolvelib looks at every package again in each
of its rounds, which takes longer than all the rest where everything is cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from envsolve.resolve.choices import Choices, Preference
from envsolve.resolve.listing import Candidate
from envsolve.resolve.need import Need


def straight(choices: Choices, roots: Sequence[Need]) -> Mapping[str, Candidate] | None:
    """The pins by key, of packages that the roots lead to; None where a search is needed."""
    state = _State(choices)
    if not state.take(roots, None):
        return None
    while state.open:
        if not state.pin(min(state.open, key=state.open.__getitem__)):
            return None
    return reached(roots, state.pins, choices)


def reached(roots: Iterable[Need], pins: Mapping[str, Candidate], choices: Choices) -> Mapping[str, Candidate]:
    """The pins that the roots lead to, without what only a pin that was taken back had asked for."""
    found: dict[str, Candidate] = {}
    ahead = [need.key for need in roots]
    while ahead:
        key = ahead.pop()
        if key not in found:
            found[key] = pins[key]
            ahead += [need.key for need in choices.dependencies(found[key])]
    return found


class _State:
    """What is pinned, what is open (with its preference), who asks for what, and which places that leaves."""

    def __init__(self, choices: Choices) -> None:
        self.open: dict[str, Preference] = {}
        self._choices = choices
        self.pins: dict[str, Candidate] = {}
        self._asked: dict[str, list[tuple[Need, str | None]]] = {}
        self._places: dict[str, frozenset[int]] = {}
        self._left: set[frozenset[Candidate]] = set()

    def take(self, needs: Sequence[Need], parent: str | None) -> bool:
        """Take needs in; False, and nothing is changed, where one can't be met together with the others."""
        asked: dict[str, list[tuple[Need, str | None]]] = {}
        places: dict[str, frozenset[int]] = {}
        for need in needs:
            some = asked.get(need.key) or self._asked.get(need.key, [])
            asked[need.key] = some = [*some, (need, parent)]
            every = [one for one, _ in some]
            if need.extra:
                every += [one for one, _ in asked.get(need.name) or self._asked.get(need.name, [])]
            places[need.key] = self._choices.places(every)
            if not places[need.key]:
                return False
        self._asked.update(asked)
        self._places.update(places)
        for key in asked:
            if key not in self.pins:
                self.open[key] = self._preference(key)
        return True

    def pin(self, key: str) -> bool:
        """Pin the best version of a package whose own needs can be met; False where there is none."""
        if not self._asked[key]:
            return False  # only something that isn't needed any more asked for it: resolvelib's business
        need = self._asked[key][0][0]
        for candidate in self._choices.candidates(need.name, need.extra, self._places[key]):
            needs = self._choices.dependencies(candidate)
            if any(one.key == key and candidate.place not in one.allowed for one in needs):
                return False  # it rules itself out, and what it has asked for until then is resolvelib's business
            if self._meets(candidate, key) and self.take(needs, key):
                self.pins[key] = candidate
                self.open.pop(key, None)
                return self._reopen({one.key for one in needs})
        return False

    def _meets(self, candidate: Candidate, key: str) -> bool:
        return all(candidate.place in need.allowed for need, _ in self._asked[key])

    def _reopen(self, keys: Iterable[str]) -> bool:
        """Take back pins that a new need rules out, and with them what those had asked for.

        False where that leaves the same pins as once before: two packages would take each other back for ever.
        """
        broken = {key for key in keys if key in self.pins and not self._meets(self.pins[key], key)}
        if not broken:
            return True
        for asked in self._asked.values():
            asked[:] = [(need, parent) for need, parent in asked if parent not in broken]
        for key in broken:
            del self.pins[key]
        for key in {*self.open, *broken}:
            self.open[key] = self._preference(key)
        left = frozenset(self.pins.values())
        known = left in self._left
        self._left.add(left)
        return not known

    def _preference(self, key: str) -> Preference:
        return self._choices.preference(key, (need for need, _ in self._asked[key]))
